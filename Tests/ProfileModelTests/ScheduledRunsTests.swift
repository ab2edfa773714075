import TestSupport
import Testing

@testable import ProfileModel

@Suite struct ScheduledRunsTests {
    private static func run(
        _ thread: Int, _ start: Int64, _ end: Int64, _ state: ThreadState, _ core: Int32? = nil
    ) -> ScheduledRun {
        ScheduledRun(
            thread: ThreadIndex(thread), start: MonotonicTime(nanoseconds: start),
            end: MonotonicTime(nanoseconds: end), state: state, core: core)
    }

    private static func words(_ list: ThreadRuns) -> [String] {
        list.map { stretch in
            let core = stretch.core.map { " @\($0)" } ?? ""
            let state = stretch.state.map { "\($0)" } ?? "unknown"
            return "\(state) \(stretch.start.nanoseconds)-\(stretch.end.nanoseconds)\(core)"
        }
    }

    @Test func everythingComesBack() {
        let all = [
            Self.run(0, 10, 20, .running, 3), Self.run(0, 20, 30, .blocked),
            Self.run(0, 40, 50, .running), Self.run(2, -5, 1, .preempted),
        ]
        let runs = ScheduledRuns([all[3]] + all.dropLast())
        #expect(Array(runs) == all)
        #expect(
            Self.words(runs[ThreadIndex(0)]) == [
                "running 10-20 @3", "blocked 20-30", "unknown 30-40", "running 40-50",
            ])
        #expect(runs[ThreadIndex(1)].isEmpty && !runs.isEmpty)
    }

    @Test func overlappingRunsAreCut() {
        let runs = ScheduledRuns([
            Self.run(0, 10, 20, .running), Self.run(0, 5, 15, .blocked),
            Self.run(0, 15, 25, .blocked), Self.run(0, 30, 29, .running),
            Self.run(1, 7, 7, .running),
        ])
        #expect(Self.words(runs[ThreadIndex(0)]) == ["running 10-20", "blocked 20-25"])
        #expect(
            runs == ScheduledRuns([Self.run(0, 10, 20, .running), Self.run(0, 20, 25, .blocked)]))
    }

    @Test func aListIsTakenAsItsRunsAre() {
        let all = [Self.run(4, 1, 2, .running, 0), Self.run(4, 2, 9, .blocked)]
        var runs = ScheduledRuns()
        runs.append(all, of: ThreadIndex(4))
        runs.append([Self.run(5, 3, 3, .running)], of: ThreadIndex(5))
        #expect(runs == ScheduledRuns(all))
    }

    @Test func anotherClockLeavesOutWhatHasNoTimeThere() {
        var runs = ScheduledRuns([
            Self.run(0, 0, 10, .running), Self.run(0, 10, 20, .preempted),
            Self.run(0, 20, 30, .running), Self.run(1, 12, 18, .running),
        ])
        // It is stopped from 10 to 20.
        runs.moveTimes { time in
            let held = min(max(time.nanoseconds - 10, 0), 10)
            return MonotonicTime(nanoseconds: time.nanoseconds - held)
        }
        #expect(Array(runs) == [Self.run(0, 0, 10, .running), Self.run(0, 10, 20, .running)])
        #expect(runs == ScheduledRuns(runs))
    }

    @Test func someThreadsGoByOtherNumbers() {
        let runs = ScheduledRuns([Self.run(1, 0, 1, .running), Self.run(2, 0, 2, .blocked)])
        let own = runs.of { $0 == ThreadIndex(2) ? ThreadIndex(0) : nil }
        #expect(Array(own) == [Self.run(0, 0, 2, .blocked)])
    }

    /// Each thread's runs are in order and apart, for any input, and none lies where no thread was.
    @Test(arguments: 1...50) func theyAreInOrder(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let all = (0..<60).map { _ in
            let edge = [Int64.min, .max].randomElement(using: &random) ?? 0
            let isFar = Int.random(in: 0..<20, using: &random) == 0
            return Self.run(
                Int.random(in: -1...2, using: &random), Int64.random(in: -50...50, using: &random),
                isFar ? edge : Int64.random(in: -50...90, using: &random),
                ThreadState.allCases.randomElement(using: &random) ?? .running)
        }
        let runs = ScheduledRuns(all)
        for thread in Set(all.map(\.thread)) {
            let list = runs[thread]
            #expect(list.allSatisfy { $0.start < $0.end })
            #expect(zip(list, list.dropFirst()).allSatisfy { $0.end == $1.start })
            #expect(list.first?.state != .some(nil) && list.last?.state != .some(nil))
            for run in Array(runs) where run.thread == thread {
                #expect(all.contains { $0.end == run.end && $0.start <= run.start })
            }
        }
    }

    @Test func theyAreSmall() {
        #expect(MemoryLayout<ThreadRuns.Change>.stride == 16)
    }

    @Test func aThreadIndexThatNoListHasStaysOne() {
        #expect(ThreadIndex(1 << 32).rawValue > 0)
        #expect(ThreadIndex(-1).rawValue == -1 && ThreadIndex(.min).rawValue < 0)
    }
}
