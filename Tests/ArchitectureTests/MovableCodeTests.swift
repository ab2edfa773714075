import Architecture
import TestSupport
import Testing

/// Code whose place is decided last.
@Suite struct MovableCodeTests {
    /// Where the distance of four bytes at an offset leads, counted from an end.
    private func target(_ bytes: [UInt8], at offset: Int, end: Int, place: UInt64) -> UInt64 {
        let distance = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[offset + $1]) << (8 * $1) }
        return place &+ UInt64(end) &+ UInt64(bitPattern: Int64(Int32(bitPattern: distance)))
    }

    @Test func distancesLeadToTheSameTargetFromEverywhere() throws {
        var numbers = SeededNumbers(seed: 11)
        let home: UInt64 = 0x5555_5555_0000
        for _ in 0..<200 {
            let targets = (0..<4).map { _ in home + UInt64.random(in: 0..<1 << 30, using: &numbers)
            }
            let routine = home + UInt64.random(in: 0..<1 << 30, using: &numbers)
            // nop; jmp; cmpl $1, distance(%rip); call *routine(%rip)
            let code =
                MovableCode([0x90]) + .jump(to: targets[0])
                + MovableCode(
                    [0x83, 0x3D, 0, 0, 0, 0, 0x01], distanceAt: 2, to: .address(targets[1]))
                + MovableCode([0xFF, 0x15], to: .routine)
            let place = home + UInt64.random(in: 0..<1 << 30, using: &numbers)
            let bytes = try #require(code.bytes(at: place, routine: routine))
            #expect(bytes.count == code.count && code.count == 1 + 5 + 7 + 6)
            #expect(target(bytes, at: 2, end: 6, place: place) == targets[0])
            #expect(target(bytes, at: 8, end: 13, place: place) == targets[1])
            #expect(bytes[12] == 0x01)
            #expect(target(bytes, at: 15, end: 19, place: place) == routine)
        }
    }

    @Test func tooFar() {
        let jump = MovableCode.jump(to: 0x1_0000_0000)
        #expect(jump.bytes(at: 0x8000_0000)?.count == MovableCode.jumpLength)
        #expect(jump.bytes(at: 0x2_0000_0000) == nil)
        #expect(jump.bytes(at: 0) == nil)
        #expect(MovableCode([0xC3]).bytes(at: .max) == [0xC3])
        #expect(MovableCode().bytes(at: 0) == [])
        // The distance would lie behind the end.
        #expect(MovableCode([0xE9, 0], distanceAt: 1, to: .routine).bytes(at: 0) == nil)
    }
}
