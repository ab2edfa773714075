import Architecture
import ProfileModel
import TestSupport
import Testing

@testable import Marks

/// Instructions at other places: read again by the same disassembler, they lead to where they led.
@Suite struct RelocationTests {
    private let disassembler: Disassembler
    private static let home: UInt64 = 0x5555_5555_0000
    private static let places: [UInt64] = [
        home + 5, home - 0x1000, home + 0x6000_0000, home - 0x6000_0000,
    ]

    init() throws { disassembler = try #require(Disassembler()) }

    private func instruction(_ bytes: [UInt8]) throws -> Instruction {
        let found = disassembler.instructions(in: bytes, at: Self.home)
        try #require(found.count == 1, "\(bytes)")
        return found[0]
    }

    private func bytes(of instruction: Instruction, at place: UInt64) -> [UInt8]? {
        instruction.movableCode?.bytes(at: place)
    }

    private func moved(_ bytes: [UInt8], to place: UInt64) throws -> [Instruction] {
        let code = try #require(self.bytes(of: try instruction(bytes), at: place))
        let found = disassembler.instructions(in: code, at: place)
        #expect(found.last?.end == place + UInt64(code.count))
        return found
    }

    /// push %rbx; mov %rsp, %rbp; sub $0x28, %rsp; mov %fs:0x28, %rax; ret; vpxor; endbr64; rep movsb
    @Test(
        arguments: [
            [0x53], [0x48, 0x89, 0xE5], [0x48, 0x83, 0xEC, 0x28],
            [0x64, 0x48, 0x8B, 0x04, 0x25, 0x28, 0, 0, 0], [0xC3], [0xC5, 0xFD, 0xEF, 0xC0],
            [0xF3, 0x0F, 0x1E, 0xFA], [0xF3, 0xA4], [0xFF, 0xE0], [0xF3, 0xC3], [0xC2, 8, 0],
        ] as [[UInt8]])
    func thoseThatKnowNoPlaceStayAsTheyAre(bytes: [UInt8]) throws {
        for place in Self.places {
            #expect(self.bytes(of: try instruction(bytes), at: place) == bytes)
        }
    }

    /// mov, lea, cmpl $1 (an immediate behind the distance), jmp *, vmovaps, all relative to rip.
    @Test(
        arguments: [
            [0x48, 0x8B, 0x05, 0x10, 0x20, 0, 0], [0x4C, 0x8D, 0x25, 0xF0, 0xFF, 0xFF, 0xFF],
            [0x83, 0x3D, 0x34, 0x12, 0, 0, 0x01], [0xFF, 0x25, 0, 1, 0, 0],
            [0xC5, 0xF8, 0x28, 0x05, 0x40, 0, 0, 0],
            [0x48, 0xC7, 0x05, 0x34, 0x12, 0, 0, 9, 0, 0, 0],
        ] as [[UInt8]])
    func relativeInstructionsLeadToTheSamePlace(bytes: [UInt8]) throws {
        let original = try instruction(bytes)
        for place in Self.places {
            let found = try moved(bytes, to: place)
            #expect(found.count == 1)
            #expect(found.first?.reference == original.reference)
            #expect(found.first?.kind == original.kind)
            #expect(found.first?.bytes.count == bytes.count)
        }
        #expect(self.bytes(of: original, at: Self.home + 0x1_0000_0000) == nil)
    }

    /// Jumps and all branches, of both lengths.
    @Test func jumpsAndBranchesLeadToTheSamePlace() throws {
        var all: [[UInt8]] = [[0xEB, 0x10], [0xE9, 0x10, 0x20, 0, 0], [0xEB, 0xFE]]
        for condition in 0..<UInt8(16) {
            all.append([0x70 | condition, 0x80])
            all.append([0x0F, 0x80 | condition, 0x10, 0, 0, 0x01])
        }
        for bytes in all {
            let original = try instruction(bytes)
            for place in Self.places {
                let found = try moved(bytes, to: place)
                #expect(found.count == 1)
                #expect(found.first?.kind == original.kind, "\(bytes)")
                // The same condition.
                if bytes.count != 5, bytes[0] != 0xEB {
                    let own = bytes.count == 2 ? bytes[0] : bytes[1]
                    #expect(found.first.map { $0.bytes[1] & 0xF } == own & 0xF)
                }
            }
            #expect(self.bytes(of: original, at: Self.home + 0x1_0000_0000) == nil)
        }
    }

    /// The address behind the call is pushed, then it is a jump.
    @Test(
        arguments: [
            [0xE8, 0x10, 0x20, 0, 0], [0xFF, 0xD0], [0x41, 0xFF, 0xD4], [0xFF, 0x50, 0x18],
            [0xFF, 0x15, 0x10, 0, 0, 0], [0xFF, 0x14, 0xC5, 0, 1, 0, 0],
        ] as [[UInt8]])
    func callsReturnToWhereTheyDid(bytes: [UInt8]) throws {
        let original = try instruction(bytes)
        for place in Self.places {
            let found = try moved(bytes, to: place)
            try #require(found.count == 3)
            let low = UInt64(number(found[0].bytes[1...]))
            let high = UInt64(number(found[1].bytes[4...]))
            #expect(found[0].bytes[0] == 0x68)
            #expect(found[1].bytes.starts(with: [0xC7, 0x44, 0x24, 0x04]))
            #expect(high << 32 | low == original.end)
            switch (original.kind, found[2].kind) {
            case (.call(let own), .jump(let target)): #expect(own == target)
            case (.indirectCall, .indirectJump):
                #expect(found[2].reference?.location == original.reference?.location)
            default: Issue.record("\(bytes)")
            }
        }
    }

    private func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// syscall, int3, hlt, ud2, loop, jrcxz, xbegin, call *8(%rsp), mov of an address relative to eip.
    @Test(
        arguments: [
            [0x0F, 0x05], [0xCC], [0xF4], [0x0F, 0x0B], [0xE2, 0x10], [0xE3, 0x10],
            [0xC7, 0xF8, 0x10, 0, 0, 0], [0xFF, 0x54, 0x24, 0x08],
            [0x67, 0x8B, 0x05, 0x10, 0, 0, 0],
        ] as [[UInt8]])
    func othersAreNotMoved(bytes: [UInt8]) throws {
        #expect(self.bytes(of: try instruction(bytes), at: Self.home + 64) == nil)
    }

    @Test(
        arguments: [[0x90], [0x0F, 0x1F, 0x44, 0, 0], [0x66, 0x0F, 0x1F, 0x84, 0, 0, 0, 0, 0]]
            as [[UInt8]])
    func paddingIsLeftOut(bytes: [UInt8]) throws {
        #expect(self.bytes(of: try instruction(bytes), at: Self.home + 64) == [])
    }

    /// Whatever the bytes are, nothing is read outside of them, and nothing is empty.
    @Test func randomBytes() {
        var numbers = SeededNumbers(seed: 5)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...40, using: &numbers)).map { _ in
                UInt8.random(in: 0...255, using: &numbers)
            }
            let found = disassembler.instructions(in: bytes, at: Self.home)
            #expect(found.allSatisfy { !$0.bytes.isEmpty })
            #expect(found.flatMap(\.bytes) == Array(bytes.prefix(found.flatMap(\.bytes).count)))
            for instruction in found {
                for place in Self.places { _ = self.bytes(of: instruction, at: place) }
            }
        }
    }
}
