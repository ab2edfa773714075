import Architecture
import Testing

@Suite struct RegistersTests {
    @Test func allAreUnknownAtFirst() {
        let registers = Registers()
        #expect((0..<Registers.count).allSatisfy { registers[$0] == nil })
        #expect(registers.framePointer == nil)
    }

    @Test func eachIsKeptApart() {
        var registers = Registers()
        for number in 0..<Registers.count { registers[number] = UInt64(number) &* 0x0101_0101 }
        for number in 0..<Registers.count {
            #expect(registers[number] == UInt64(number) &* 0x0101_0101)
        }
        registers[3] = nil
        #expect(registers[3] == nil)
        #expect(registers[2] != nil && registers[4] != nil)
        registers[3] = 0
        #expect(registers[3] == 0)
    }

    @Test func theNamedOnesAreDWARFsNumbers() {
        var registers = Registers(programCounter: 0x40_1000, stackPointer: 0x7FFC_0000)
        #expect(registers[16] == 0x40_1000 && registers.programCounter == 0x40_1000)
        #expect(registers[7] == 0x7FFC_0000 && registers.stackPointer == 0x7FFC_0000)
        #expect((0..<7).allSatisfy { registers[$0] == nil })
        registers[6] = 9
        #expect(registers.framePointer == 9)
    }

    /// Unwind tables name vector registers, and damaged ones name anything.
    @Test(arguments: [-1, 17, 18, 32, 33, 64, 128, Int.min, Int.max])
    func numbersOutsideAreNeverKnown(number: Int) {
        var registers = Registers()
        for number in 0..<Registers.count { registers[number] = 1 }
        registers[number] = 5
        #expect(registers[number] == nil)
        registers[number] = nil
        #expect((0..<Registers.count).allSatisfy { registers[$0] == 1 })
    }

    @Test func callsHaveSixArguments() {
        var registers = Registers()
        for (position, number) in RegisterOrder.arguments.enumerated() {
            registers[number] = UInt64(position)
        }
        for position in 0..<6 { #expect(registers.argument(position) == UInt64(position)) }
        #expect(registers.argument(-1) == nil && registers.argument(6) == nil)
        #expect(registers[Registers.result] == nil)
    }
}
