import Analysis
import MadeRecordings
import ProfileModel
import TestSupport
import Testing

/// The scheduler's account says how waiting for a core divides, and what of being blocked it was.
@Suite struct ExactStatesTests {
    private var builder = RecordingBuilder(images: [("/home/dev/app", 0)])
    private let main: ThreadIndex

    init() {
        builder.border(.spawned, 0)
        builder.border(.ended, 100)
        main = builder.thread("app", tid: 100, to: 100, isMain: true)
    }

    private func times(_ recording: Recording) -> StateTimes { Profile(recording).threads[0].times }

    @Test func runnableIsWhatFollowedAWakeUp() {
        var builder = builder
        builder.slice(main, at: 0, running: 10, runnable: 5, preempted: 5, nil)
        builder.runs(
            main, from: 0, (.running, until: 4), (.preempted, until: 12), (.running, until: 14),
            (.runnable, until: 16), (.running, until: 20))
        #expect(
            times(builder.recording)
                == StateTimes(
                    running: .milliseconds(10), runnable: .milliseconds(2),
                    preempted: .milliseconds(8)))
    }

    /// A wait that ends between two looks is a slice of its own, and the delay belongs to the next.
    @Test func theWaitBeforeIsLookedAt() {
        var builder = builder
        builder.slice(main, at: 0, blocked: 10, nil)
        builder.slice(main, at: 10, running: 6, preempted: 4, nil)
        builder.runs(
            main, from: 0, (.blocked, until: 8), (.runnable, until: 11), (.running, until: 17),
            (.preempted, until: 18), (.running, until: 20))
        #expect(
            times(builder.recording)
                == StateTimes(
                    running: .milliseconds(6), runnable: .milliseconds(3),
                    preempted: .milliseconds(1), blocked: .milliseconds(10)))
    }

    /// The kernel's counters have a wait for a core only when it is over.
    @Test func aWaitForACoreThatIsNotOverIsNotBlocked() {
        var builder = builder
        builder.slice(main, at: 0, running: 2, blocked: 18, nil)
        builder.runs(
            main, from: 0, (.running, until: 2), (.blocked, until: 5), (.runnable, until: 9),
            (.preempted, until: 20))
        #expect(
            times(builder.recording)
                == StateTimes(
                    running: .milliseconds(2), runnable: .milliseconds(4),
                    preempted: .milliseconds(11), blocked: .milliseconds(3)))
    }

    @Test func withoutWakeUpsNothingIsKnown() {
        var builder = builder
        builder.slice(main, at: 0, running: 10, runnable: 5, preempted: 5, nil)
        builder.runs(main, from: 0, (.running, until: 20))
        builder.recording.header.account = .switches
        #expect(times(builder.recording).runnable == .milliseconds(5))
    }

    @Test func timeWithoutAnAccountStays() {
        var builder = builder
        builder.slice(main, at: 0, running: 10, runnable: 5, preempted: 5, nil)
        builder.runs(main, from: 0, (.running, until: 19))
        #expect(times(builder.recording).runnable == .milliseconds(5))
    }

    @Test(arguments: 1...50) func sumsStay(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var recording = RecordingBuilder.random(seed: seed)
        let before = Profile(recording).threads.map(\.times)
        for index in recording.threads.indices {
            var time = RecordingBuilder.at(-5)
            while time < RecordingBuilder.at(105) {
                let end =
                    time + TimeSpan(nanoseconds: Int64.random(in: 1...900_000, using: &random))
                recording.runs.append(
                    ScheduledRun(
                        thread: ThreadIndex(index), start: time, end: end,
                        state: ThreadState.allCases.randomElement(using: &random) ?? .running))
                time = end
            }
        }
        recording.header.account = .wakeups
        let after = Profile(recording).threads.map(\.times)
        for (old, new) in zip(before, after) {
            #expect(old.wall == new.wall && old.running == new.running)
            #expect(old.blocked >= new.blocked && new.blocked >= .zero)
            #expect(new.runnable >= .zero && new.preempted >= .zero)
        }
        #expect(before != after)
    }
}
