import Architecture
import ProfileModel
import Testing

@testable import Marks

/// By which ways a function is left.
@Suite struct FunctionExitsTests {
    private let disassembler: Disassembler
    private static let start: UInt64 = 0x40_1000
    private static let cold: Range<UInt64> = 0x40_0100..<0x40_0106
    private static let function: UInt64 = 0x40_2000
    private static let table: UInt64 = 0x50_0000

    init() throws { disassembler = try #require(Disassembler()) }

    private func at(_ offset: Int) -> UInt64 { Self.start + UInt64(offset) }

    /// `jmp` (or what `code` says) from an offset to an address.
    private func jump(_ code: [UInt8], from offset: Int, to target: UInt64) -> [UInt8] {
        let end = at(offset) + UInt64(code.count + 4)
        return code + Int32(truncatingIfNeeded: Int64(bitPattern: target &- end)).codeBytes
    }

    private func exits(
        _ bytes: [UInt8], cold: [UInt8] = [], listed: [UInt64] = []
    ) -> FunctionExits {
        let block = CodeBlock(
            Self.start..<(Self.start + UInt64(bytes.count)), code: bytes, border: .max,
            disassembler)
        return FunctionExits(
            block, tables: { _ in listed },
            destination: { target in
                if Self.cold.contains(target) { return .part(Self.cold) }
                return target == Self.function ? .function : .unknown(nil)
            },
            part: { CodeBlock($0, code: cold, border: $0.upperBound, disassembler) })
    }

    @Test func everyReturn() {
        // je +1; ret; xor %eax, %eax; ret
        let found = exits([0x74, 0x01, 0xC3, 0x31, 0xC0, 0xC3])
        #expect(found.exits == [at(2), at(5)])
        #expect(found.targets == [at(3)])
        #expect(found.refusal == nil)
    }

    @Test func jumpsToOtherFunctionsAreExits() {
        let found = exits([0x90] + jump([0xE9], from: 1, to: Self.function))
        #expect(found.exits == [at(1)])
        #expect(found.refusal == nil)
        let onCondition = exits(jump([0x0F, 0x84], from: 0, to: Self.function) + [0xC3])
        #expect(onCondition.refusal == .leavesOnCondition)
        #expect(exits(jump([0xE9], from: 0, to: 0x40_3000)).refusal == .leavesUnseen)
        #expect(exits([0xEB, 0xFE]).refusal == .endless)
        #expect(exits([0x06, 0xC3]).refusal == .unreadable)
    }

    /// A part elsewhere is followed: its returns are exits, its way back is a target.
    @Test func coldPartsBelongToTheFunction() {
        let back = MovableCode.jump(to: at(6)).bytes(at: Self.cold.lowerBound) ?? []
        let found = exits(
            jump([0x0F, 0x84], from: 0, to: Self.cold.lowerBound) + [0xC3], cold: back + [0xC3])
        #expect(found.exits == [Self.cold.lowerBound + 5, at(6)])
        #expect(found.targets == [Self.cold.lowerBound, at(6)])
        #expect(found.refusal == nil)
    }

    /// jmp *%rax is a way out, unless tables lead back inside; then it must be the table's.
    @Test func indirectJumps() {
        #expect(exits([0x90, 0xFF, 0xE0]).exits == [at(1)])
        // add %rdx, %rax; jmp *%rax
        let switching = exits([0x48, 0x01, 0xD0, 0xFF, 0xE0, 0xC3], listed: [at(5)])
        #expect(switching.exits == [at(5)] && switching.targets == [at(5)])
        // jmp *8(%rax)
        let calling = exits([0xFF, 0x60, 0x08, 0xC3], listed: [at(3)])
        #expect(calling.exits == [at(0), at(3)])
        #expect(exits([0x90, 0xFF, 0xE0, 0xC3], listed: [at(3)]).refusal == .unclearJump)
    }

    /// Distances of four bytes, and addresses of eight; up to the first that leads elsewhere.
    @Test func tables() {
        let inside = Self.start..<(Self.start + 64)
        let distances = [at(3), at(9), 0x60_0000].flatMap { target in
            Int32(truncatingIfNeeded: Int64(bitPattern: target &- Self.table)).codeBytes
        }
        // lea table(%rip), %rdx
        let distance = Int32(truncatingIfNeeded: Int64(Self.table) - Int64(at(7)))
        let load = disassembler.instructions(
            in: [0x48, 0x8D, 0x15] + distance.codeBytes, at: Self.start)
        #expect(load.first?.table == Self.table)
        func destinations(_ bytes: [UInt8]) -> Set<UInt64> {
            Set(
                JumpTables.destinations(
                    of: load, inside: inside.contains,
                    read: { address, count in
                        address == Self.table ? Array(bytes.prefix(count)) : []
                    }))
        }
        #expect(destinations(distances) == [at(3), at(9)])
        #expect(
            destinations([at(5), at(6), 1].flatMap(\.codeBytes)) == [at(5), at(6)])
        #expect(destinations([]).isEmpty)
        #expect(destinations([1, 2, 3]).isEmpty)
    }
}
