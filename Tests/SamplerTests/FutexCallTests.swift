import ProfileModel
import Testing

@testable import Sampler

@Suite struct FutexCallTests {
    private static let lock: UInt64 = 0x7000

    private func wait(
        _ operation: UInt64, value: UInt64, memory: [UInt64: Int32], call: Int32 = 202
    ) -> FutexWait? {
        var registers = Registers()
        registers[5] = Self.lock
        registers[4] = operation
        registers[1] = value
        return FutexCall(call, registers)?.wait(tids: [10, 11]) { memory[$0] }
    }

    @Test func mutexes() {
        let held: [UInt64: Int32] = [Self.lock: 2, Self.lock + 8: 11]
        #expect(wait(128, value: 2, memory: held) == .mutex(Self.lock, owner: 11))
        #expect(wait(0, value: 2, memory: held) == .mutex(Self.lock, owner: 11))
        #expect(wait(137 | 256, value: 2, memory: held) == .mutex(Self.lock, owner: 11))
        // Another value is waited for (a condition, a semaphore), or the lock is free by now.
        #expect(wait(128, value: 0, memory: held) == .other(Self.lock))
        #expect(wait(128, value: 2, memory: [Self.lock: 0]) == .other(Self.lock))
        // No thread of the process.
        let foreign: [UInt64: Int32] = [Self.lock: 2, Self.lock + 8: 12]
        #expect(wait(128, value: 2, memory: foreign) == .other(Self.lock))
        #expect(wait(128, value: 2, memory: [:]) == .other(Self.lock))
    }

    @Test func mutexesWithPriorityInheritance() {
        let word = Int32(bitPattern: 0x8000_0000) | 11
        #expect(wait(134, value: 0, memory: [Self.lock: word]) == .mutex(Self.lock, owner: 11))
        #expect(wait(134, value: 0, memory: [Self.lock: 99]) == .other(Self.lock))
    }

    @Test func threadEnds() {
        #expect(wait(265, value: 11, memory: [Self.lock: 11]) == .end(of: 11))
        #expect(wait(265, value: 11, memory: [Self.lock: 0]) == .other(Self.lock))
        #expect(wait(265, value: 12, memory: [Self.lock: 12]) == .other(Self.lock))
    }

    @Test func otherCalls() {
        #expect(wait(128, value: 2, memory: [:], call: 0) == nil)
        #expect(FutexCall(202, Registers()) == nil)
    }
}
