import Architecture
import ProfileModel
import TestSupport
import Testing

@testable import Sampler

@Suite struct FutexCallTests {
    private static let lock: UInt64 = 0x7000

    private func wait(
        _ operation: UInt64, value: UInt64, memory: [UInt64: Int32], call: Int32 = 202,
        at address: UInt64 = lock
    ) -> FutexWait? {
        var registers = Registers()
        registers[5] = address
        registers[4] = operation
        registers[1] = value
        return FutexCall(call, registers)?.wait(
            thread: { [10: 110, 11: 111][$0] }, read: { memory[$0] })
    }

    @Test func mutexes() {
        let held: [UInt64: Int32] = [Self.lock: 2, Self.lock + 8: 11]
        #expect(wait(128, value: 2, memory: held) == .mutex(Self.lock, owner: 111))
        #expect(wait(0, value: 2, memory: held) == .mutex(Self.lock, owner: 111))
        #expect(wait(137 | 256, value: 2, memory: held) == .mutex(Self.lock, owner: 111))
        // Another value is waited for (a condition, a semaphore), or the lock is free already.
        #expect(wait(128, value: 0, memory: held) == .other(Self.lock))
        #expect(wait(128, value: 2, memory: [Self.lock: 0]) == .other(Self.lock))
        // No thread of the process.
        let foreign: [UInt64: Int32] = [Self.lock: 2, Self.lock + 8: 12]
        #expect(wait(128, value: 2, memory: foreign) == .other(Self.lock))
        #expect(wait(128, value: 2, memory: [:]) == .other(Self.lock))
    }

    @Test func mutexesWithPriorityInheritance() {
        let word = Int32(bitPattern: 0x8000_0000) | 11
        #expect(wait(134, value: 0, memory: [Self.lock: word]) == .mutex(Self.lock, owner: 111))
        #expect(wait(134, value: 0, memory: [Self.lock: 99]) == .other(Self.lock))
    }

    @Test func threadEnds() {
        #expect(wait(265, value: 11, memory: [Self.lock: 11]) == .end(of: 111))
        #expect(wait(265, value: 11, memory: [Self.lock: 0]) == .other(Self.lock))
        #expect(wait(265, value: 12, memory: [Self.lock: 12]) == .other(Self.lock))
    }

    @Test func readWriteLocks() {
        // A thread writes; readers wait for the word at 8, writers for that at 12.
        let held: [UInt64: Int32] = [Self.lock + 8: 3, Self.lock + 12: 3, Self.lock + 24: 10]
        func wait(at offset: UInt64, value: UInt64 = 3) -> FutexWait? {
            self.wait(128, value: value, memory: held, at: Self.lock + offset)
        }
        #expect(wait(at: 8) == .readWriteLock(Self.lock, owner: 110))
        #expect(wait(at: 12) == .readWriteLock(Self.lock, owner: 110))
        #expect(wait(at: 8, value: 2) == .other(Self.lock + 8))
        let free: [UInt64: Int32] = [Self.lock + 8: 3, Self.lock + 24: 0]
        #expect(
            self.wait(128, value: 3, memory: free, at: Self.lock + 8) == .other(Self.lock + 8))
    }

    @Test func conditions() {
        // Two wait (in steps of 8), one of them for the word at 40 and one for that at 44 (of 2).
        let waiting: [UInt64: Int32] = [
            Self.lock + 36: 16, Self.lock + 16: 2, Self.lock + 20: 2, Self.lock + 40: 0,
        ]
        for offset in [40, 44] as [UInt64] {
            let found = wait(393, value: 0, memory: waiting, at: Self.lock + offset)
            #expect(found == .condition(Self.lock))
        }
        var wrong = waiting
        wrong[Self.lock + 16] = 6
        let place = Self.lock + 40
        #expect(wait(393, value: 0, memory: wrong, at: place) == .other(place))
        wrong[Self.lock + 16] = 0
        #expect(wait(393, value: 0, memory: wrong, at: place) == .other(place))
        wrong = waiting
        wrong[Self.lock + 36] = .min
        #expect(wait(393, value: 0, memory: wrong, at: place) == .other(place))
        // Such a wait always uses FUTEX_WAIT_BITSET.
        #expect(wait(128, value: 0, memory: waiting, at: place) == .other(place))
    }

    @Test func semaphores() {
        let own: [UInt64: Int32] = [Self.lock: 0, Self.lock + 4: 1, Self.lock + 8: 0]
        #expect(wait(393, value: 0, memory: own) == .semaphore(Self.lock))
        #expect(wait(265, value: 0, memory: own) == .other(Self.lock))
        let shared: [UInt64: Int32] = [Self.lock: 0, Self.lock + 4: 1, Self.lock + 8: 128]
        #expect(wait(265, value: 0, memory: shared) == .semaphore(Self.lock))
        var posted = own
        posted[Self.lock] = 1
        #expect(wait(393, value: 0, memory: posted) == .other(Self.lock))
        #expect(wait(393, value: 0, memory: [Self.lock: 0]) == .other(Self.lock))
    }

    /// No memory makes it trap.
    @Test func anyMemory() {
        var random = SeededNumbers(seed: 3)
        let samples: [Int32] = [.min, .max, -1, 0, 1, 2, 3, 8, 10, 11, 128]
        for _ in 0..<20_000 {
            let value = samples.randomElement(using: &random) ?? 0
            let operation: UInt64 =
                [0, 6, 9, 128, 137, 265, 393].randomElement(using: &random) ?? 0
            let address: UInt64 = [0, 4, .max, Self.lock].randomElement(using: &random) ?? 0
            var registers = Registers()
            registers[5] = address
            registers[4] = operation
            registers[1] = UInt64(UInt32(bitPattern: value))
            let generator = { (_: UInt64) in samples.randomElement(using: &random) }
            _ = FutexCall(202, registers)?.wait(thread: { $0 == 10 ? 10 : nil }, read: generator)
        }
    }

    @Test func otherCalls() {
        #expect(wait(128, value: 2, memory: [:], call: 0) == nil)
        #expect(FutexCall(202, Registers()) == nil)
    }
}
