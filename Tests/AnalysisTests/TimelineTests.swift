import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

/// What threads did over time.
@Suite struct TimelineTests {
    private func launch() -> (RecordingBuilder, ThreadIndex, ThreadIndex) {
        var builder = RecordingBuilder(images: [("/home/dev/app", 2)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 2)
        builder.border(.main, 10)
        builder.border(.ended, 100)
        let main = builder.thread("app", tid: 7, to: 100, isMain: true)
        let worker = builder.thread("worker", tid: 8, to: 100)
        return (builder, main, worker)
    }

    private func words(_ runs: [StateRun]) -> [String] {
        runs.map { run in
            let (start, end) = (run.start.nanoseconds, run.end.nanoseconds)
            return "\(run.state) \(start / 1_000_000)-\(end / 1_000_000)"
        }
    }

    @Test func theEndOfASliceTellsTheOrder() {
        var (builder, main, worker) = launch()
        builder.slice(main, at: 0, running: 3, runnable: 1, preempted: 2, blocked: 4, nil, call: 7)
        builder.slice(worker, at: 0, running: 3, runnable: 1, preempted: 2, blocked: 4, nil)
        let lanes = Profile(builder.recording).timelines()
        #expect(
            words(lanes[0]) == ["runnable 0-1", "preempted 1-3", "running 3-6", "blocked 6-10"])
        #expect(
            words(lanes[1]) == ["blocked 0-4", "runnable 4-5", "preempted 5-7", "running 7-10"])
    }

    @Test func neighboursOfOneStateAreOneRun() {
        var (builder, main, _) = launch()
        for start in 0..<20 as Range<Int64> { builder.slice(main, at: start, running: 1, nil) }
        builder.slice(main, at: 20, blocked: 5, nil, call: 7)
        builder.slice(main, at: 25, blocked: 5, nil, call: 7)
        // A gap stays one.
        builder.slice(main, at: 40, blocked: 5, nil, call: 7)
        let lanes = Profile(builder.recording).timelines()
        #expect(words(lanes[0]) == ["running 0-20", "blocked 20-30", "blocked 40-45"])
        #expect(lanes[1].isEmpty)
    }

    @Test func theSchedulersAccountIsPreferred() {
        var (builder, main, worker) = launch()
        builder.slice(main, at: 0, running: 90, nil)
        builder.slice(worker, at: 0, running: 9, nil)
        func run(_ state: ThreadState, _ start: Int64, _ end: Int64, core: Int32? = nil) {
            builder.recording.runs.append(
                ScheduledRun(
                    thread: main, start: RecordingBuilder.at(start), end: RecordingBuilder.at(end),
                    state: state, core: core))
        }
        run(.running, -5, 8, core: 0)
        run(.running, 8, 9, core: 1)
        run(.preempted, 9, 20)
        run(.blocked, 20, 300)
        let lanes = Profile(builder.recording).timelines()
        #expect(words(lanes[0]) == ["running 0-9", "preempted 9-20", "blocked 20-100"])
        #expect(words(lanes[1]) == ["running 0-9"])
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func nothingIsLost(seed: UInt64) {
        let profile = Profile(RecordingBuilder.random(seed: seed))
        for (thread, runs) in zip(profile.threads, profile.timelines()) {
            for state in ThreadState.allCases {
                let sum = runs.filter { $0.state == state }.reduce(TimeSpan.zero) { $0 + $1.length }
                let times = thread.times
                let wanted =
                    switch state {
                    case .running: times.running
                    case .runnable: times.runnable
                    case .preempted: times.preempted
                    case .blocked: times.blocked
                    }
                #expect(sum == wanted)
            }
            #expect(zip(runs, runs.dropFirst()).allSatisfy { $0.end <= $1.start })
        }
    }
}
