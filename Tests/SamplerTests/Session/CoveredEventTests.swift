import Architecture
import ProfileModel
import Testing

@testable import Agent
@testable import ProcessIO
@testable import Sampler

/// Which events tell nothing beside the answers to a thread's timer.
@Suite struct CoveredEventTests {
    private static let interval: Int64 = 1_000_000
    private static let ownCode: Range<UInt64> = 0x7000..<0x8000
    private static let answered = MonotonicTime(nanoseconds: 9_000_000_000)

    private static func registers(_ programCounter: UInt64) -> Registers {
        Registers(programCounter: programCounter, stackPointer: 0x1000)
    }

    private func isCovered(
        after nanoseconds: Int64, at programCounter: UInt64, ownCode: Range<UInt64>? = ownCode
    ) -> Bool {
        let answer = CapturedStack(
            time: Self.answered, cpu: 0,
            snapshot: Snapshot(
                registers: Self.registers(0x400), stack: StackCopy(start: 0x1000, bytes: [1])),
            isOnAlternateStack: false)
        let seen = ThreadSamples.Observation(
            time: Self.answered + TimeSpan(nanoseconds: nanoseconds), cpu: 0,
            registers: Self.registers(programCounter),
            stack: StackCopy(start: 0x1000, bytes: [1]), kernelChain: [], isCut: false,
            isInKernel: true)
        return seen.isCovered(by: [answer], each: Self.interval, ownCode: ownCode)
    }

    /// Both clocks in one phase: all that events could show is ours.
    @Test(arguments: [Int64(-99_999), -1, 0, 40_000, 99_999])
    func besideAnAnswer(distance: Int64) { #expect(isCovered(after: distance, at: 0x500)) }

    @Test(arguments: [Int64(-600_000), -100_000, 100_000, 600_000])
    func betweenAnswers(distance: Int64) { #expect(!isCovered(after: distance, at: 0x500)) }

    @Test func callsOfTheHandlerAreOurs() {
        #expect(isCovered(after: 999_999, at: 0x7123))
        #expect(!isCovered(after: 999_999, at: 0x7123, ownCode: nil))
    }

    /// A long call of the program's through a stand-in.
    @Test(arguments: [Int64(-500_000), 1_000_000, 300_000_000])
    func callsThroughStandInsAreTheProgramsOwn(distance: Int64) {
        #expect(!isCovered(after: distance, at: 0x7123))
    }

    @Test func theDeliveryOfASignalHasItsRegisters() {
        #expect(isCovered(after: -500_000, at: 0x400))
    }

    @Test func withoutAnswersNothingIs() {
        let seen = ThreadSamples.Observation(
            time: Self.answered, cpu: 0, registers: Self.registers(0x7123),
            stack: StackCopy(start: 0, bytes: []), kernelChain: [], isCut: false,
            isInKernel: true)
        #expect(!seen.isCovered(by: [], each: Self.interval, ownCode: Self.ownCode))
    }
}
