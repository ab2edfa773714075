import Architecture
import ProfileModel
import Testing

@testable import Agent
@testable import ProcessIO
@testable import Sampler

/// The samples that looks at made threads lead to.
@Suite struct ThreadObserverTests {
    private let process = MadeProcess()
    private let sink = RecordingSink()

    private func thread(isNew: Bool = true) -> TracedThread {
        TracedThread(
            process.thread(process.pid), index: ThreadIndex(0), start: process.now, isNew: isNew)
    }

    private func observer() -> ThreadObserver {
        ThreadObserver(process, options: SamplerOptions(stackBytes: 4096), sink: sink)
    }

    private func look(
        _ observer: inout ThreadObserver, at thread: TracedThread
    ) throws -> ThreadObserver.Look {
        let counters = try #require(thread.counters())
        return observer.look(at: thread, counters, at: process.now)
    }

    @Test func timesOfABlockedThread() throws {
        var observer = observer()
        let thread = thread()
        process.pass(3)
        process.main.block()
        process.pass(4)
        #expect(try look(&observer, at: thread) == .blocked)
        process.pass(5)
        // It is where it was: no report until it goes on.
        #expect(try look(&observer, at: thread) == .blocked)
        #expect(sink.samples().count == 2)
        process.main.wake()
        process.pass(1)
        observer.close(thread, at: process.now)
        let times = sink.times()
        #expect(times == StateTimes(running: .milliseconds(4), blocked: .milliseconds(9)))
        // Its work before the wait, the wait as long as it was seen, and the time after.
        #expect(sink.samples().map(\.kind) == ["following", "snapshot", "unchanged", "following"])
    }

    /// A thread's last place does not show its work while it was left alone.
    @Test func unsampledTimeHasNoLaterStack() throws {
        var observer = observer()
        let thread = thread()
        process.pass(10)
        for _ in 1...9 { thread.leaveAlone() }
        observer.close(thread, at: process.now)
        #expect(sink.times().running == .milliseconds(10))
        let left = sink.samples().filter { $0.kind.hasPrefix("missing") }
        #expect(left.map(\.times.running) == [.milliseconds(9)])
        #expect(!thread.isUnsampled)
    }

    /// An answer may come while the recording is closed. Its thread's states would add up to more than its
    /// life.
    @Test func nothingIsToldOfWhatCameAfterTheEnd() throws {
        var observer = observer()
        let thread = thread()
        process.pass(3)
        observer.end = process.now
        process.pass(2)
        let answer = CapturedStack(
            time: process.now, cpu: 5_000_000,
            snapshot: Snapshot(
                registers: Registers(programCounter: 0x40_1000, stackPointer: 0x7000_0000),
                stack: StackCopy(start: 0x7000_0000, bytes: [1])),
            isOnAlternateStack: false)
        observer.sample(answer, of: thread, try #require(thread.counters()), frames: nil)
        #expect(sink.times().wall == .milliseconds(3))
    }

    /// The kernel restarted a call before it was seen waiting in it: its code says which.
    @Test(
        arguments: [
            ([0xB8, 7, 0, 0, 0, 0x0F, 0x05], Int32(7)), ([0xB8, 202, 0, 0, 0, 0x0F, 0x05], 202),
            // Not a call that is restarted; not the instructions that set its number; nothing to read.
            ([0xB8, 1, 0, 0, 0, 0x0F, 0x05], 219), ([0x90, 7, 0, 0, 0, 0x0F, 0x05], 219), ([], 219),
        ] as [([UInt8], Int32)])
    func aRestartedCallIsTheOneThatItWas(code: [UInt8], call: Int32) throws {
        var observer = observer()
        let thread = thread()
        process.main.code = code
        process.main.block(in: 219)
        process.pass(2)
        #expect(try look(&observer, at: thread) == .blocked)
        process.pass(5)
        #expect(try look(&observer, at: thread) == .blocked)
        process.main.wake()
        observer.close(thread, at: process.now)
        let waits = sink.events.compactMap { event in
            if case .wait(let wait) = event { wait } else { nil as Wait? }
        }
        #expect(waits.map(\.systemCall) == [call])
    }

    @Test func waitingForACoreIsNotBeingBlocked() throws {
        var observer = observer()
        let thread = thread()
        process.pass(2)
        process.main.lose()
        process.pass(3)
        process.main.wake()
        process.pass(1)
        process.main.block()
        process.pass(4)
        #expect(try look(&observer, at: thread) == .blocked)
        let times = sink.times()
        #expect(times.running == .milliseconds(3))
        #expect(times.runnable + times.preempted == .milliseconds(3))
        #expect(times.blocked == .milliseconds(4))
    }

    @Test func aRunningThreadIsLeftToOthers() throws {
        var observer = observer()
        let thread = thread()
        process.pass(1)
        #expect(try look(&observer, at: thread) == .running)
        #expect(sink.samples().isEmpty)
    }

    /// The values that were read do not belong together.
    @Test func aThreadThatWakesBetweenTwoReads() throws {
        var observer = observer()
        let thread = thread()
        process.pass(1)
        process.main.block()
        process.main.afterLook = { [process] in process.main.wake() }
        #expect(try look(&observer, at: thread) == .moving)
        #expect(sink.samples().isEmpty)
    }

    @Test func aThreadThatVanishesBetweenTwoReads() throws {
        var observer = observer()
        let thread = thread()
        let counters = try #require(thread.counters())
        process.remove(process.pid)
        #expect(observer.look(at: thread, counters, at: process.now) == .gone)
        #expect(sink.samples().isEmpty)
    }

    @Test func aThreadThatVanishesAfterItWasSeenBlocked() throws {
        var observer = observer()
        let thread = thread()
        process.main.block()
        process.main.afterLook = { [process] in process.remove(process.pid) }
        #expect(try look(&observer, at: thread) == .moving)
        #expect(sink.samples().isEmpty)
    }

    /// `/proc` shows a thread that our interrupt stopped as blocked outside of a call.
    @Test func aStopThatWasNotReportedYetIsNoWait() throws {
        var observer = observer()
        let thread = thread()
        process.pass(1)
        try process.main.seize()
        try process.main.interrupt()
        #expect(try look(&observer, at: thread) == .moving)
        #expect(sink.samples().isEmpty)
    }

    @Test func aStopsTimeIsTheProfilers() throws {
        var observer = observer()
        let thread = thread()
        process.pass(2)
        try process.main.seize()
        try process.main.interrupt()
        let stopped = process.now
        try observer.sampleStopped(thread, stoppedSince: stopped)
        process.pass(3)
        observer.addHold(process.now - stopped, to: thread)
        try process.main.resume()
        process.pass(1)
        try process.main.interrupt()
        try observer.sampleStopped(thread, stoppedSince: process.now)
        #expect(sink.samples().map(\.kind) == ["snapshot", "snapshot"])
        let times = sink.times()
        #expect(times.running == .milliseconds(3))
        #expect(times.preempted == .milliseconds(3))
        #expect(times.blocked == .zero)
        #expect(observer.heldByProfiler == .milliseconds(3))
    }

    @Test func stacksAreCopiedFromTheStackPointerOn() throws {
        var observer = observer()
        let thread = thread()
        process.main.stack = [1, 2, 3]
        process.main.stop()
        try observer.sampleStopped(thread)
        let sample = try #require(sink.samples().first)
        guard case .snapshot(let snapshot) = sample.content else {
            Issue.record("\(sample.kind)")
            return
        }
        #expect(snapshot.stack.bytes == [1, 2, 3])
        #expect(snapshot.registers.programCounter == process.main.programCounter)
    }

    @Test(arguments: [(true, "missing unreadable"), (false, "none")])
    func aStackThatCannotBeRead(hasProgram: Bool, kind: String) throws {
        var observer = observer()
        let thread = thread()
        process.main.stack = []
        process.hasProgram = hasProgram
        process.main.stop()
        try observer.sampleStopped(thread)
        #expect(sink.samples().map(\.kind) == [kind])
    }

    @Test func aThreadThatIsNotStoppedHasNoRegisters() throws {
        var observer = observer()
        let thread = thread()
        #expect(throws: SystemError.self) { try observer.sampleStopped(thread) }
        #expect(sink.samples().isEmpty)
    }

    @Test func theEndOfAThreadAsTheSchedulerTells() throws {
        var observer = observer()
        let thread = thread()
        process.main.block()
        process.pass(2)
        #expect(try look(&observer, at: thread) == .blocked)
        let start = process.now
        let end = start + .milliseconds(4)
        let arrival = start + .milliseconds(1)
        for record in [
            SchedulerRecord(arrival, thread.tid, .arrived(core: 0)),
            SchedulerRecord(end, thread.tid, .ended),
        ] {
            thread.saw(record)
        }
        observer.closeAfterEnd(of: thread)
        #expect(
            sink.times()
                == StateTimes(
                    running: .milliseconds(3), runnable: .milliseconds(1),
                    blocked: .milliseconds(2)))
        #expect(sink.samples().last?.kind == "following")
    }

    @Test func aNewNameIsTold() {
        var observer = observer()
        let thread = thread()
        process.main.comm = "worker"
        process.pass(1)
        observer.watchName(of: thread, at: process.now)
        #expect(sink.names == ["worker"])
    }

    /// At first, and when it has changed.
    @Test func prioritiesAreToldOnce() throws {
        var observer = observer()
        let thread = thread()
        for nice in [Int32(0), 0, 5] {
            process.main.scheduling.nice = nice
            process.pass(60)
            observer.watchPriority(
                of: thread, try #require(thread.counters()), at: process.now)
        }
        let told = sink.events.compactMap { event in
            guard case .priority(let priority) = event else { return nil as Int32? }
            return priority.nice
        }
        #expect(told == [0, 5])
    }
}
