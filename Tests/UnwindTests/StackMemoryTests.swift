import Architecture
import ProfileModel
import Testing

@testable import Unwind

@Suite struct StackMemoryTests {
    private static func memory(interrupted: StackCopy? = nil) -> StackMemory {
        let stack = StackCopy(start: 0x7004, words: [0x0807_0605_0403_0201, 9])
        return StackMemory(
            Snapshot(registers: Registers(), stack: stack, interrupted: interrupted))
    }

    @Test func wordsInside() {
        let memory = Self.memory()
        #expect(memory.word(at: 0x7004) == 0x0807_0605_0403_0201)
        #expect(memory.word(at: 0x7005) == 0x0908_0706_0504_0302)
        #expect(memory.word(at: 0x700C) == 9)
        #expect(memory.value(at: 0x7005, size: 1) == 2)
        #expect(memory.value(at: 0x7013, size: 1) == 0)
        #expect(memory.value(at: 0x7004, size: 3) == 0x03_0201)
        #expect(memory.end == 0x7014)
    }

    @Test(arguments: [0, 0x7003, 0x700D, 0x7014, .max, .max - 6] as [UInt64])
    func wordsOutside(address: UInt64) {
        #expect(Self.memory().word(at: address) == nil)
        #expect(Self.memory().value(at: address, size: 8) == nil)
    }

    @Test func theInterruptedStackIsTheSecondChoice() {
        let memory = Self.memory(interrupted: StackCopy(start: 0x9000, words: [77]))
        #expect(memory.word(at: 0x9000) == 77)
        #expect(memory.value(at: 0x9000, size: 2) == 77)
        #expect(memory.word(at: 0x9001) == nil)
        #expect(memory.word(at: 0x700C) == 9)
        #expect(memory.end == 0x7014)
    }

    @Test func anEmptyCopyHasNothing() {
        let snapshot = Snapshot(registers: Registers(), stack: StackCopy(start: 0, bytes: []))
        #expect(StackMemory(snapshot).word(at: 0) == nil)
        #expect(StackMemory(snapshot).value(at: 0, size: 1) == nil)
        let short = Snapshot(
            registers: Registers(), stack: StackCopy(start: .max - 3, bytes: [1, 2, 3, 4]))
        #expect(StackMemory(short).word(at: .max - 3) == nil)
        #expect(StackMemory(short).value(at: .max, size: 1) == 4)
    }
}
