import ProfileModel
import TestSupport
import Testing

/// The scheduler's records as runs and wake-ups; times in nanoseconds.
@Suite struct ScheduleBuilderTests {
    private typealias Kind = SchedulerRecord.Kind

    private static func at(_ time: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: time) }

    private static func record(_ time: Int64, _ tid: Int32, _ kind: Kind) -> SchedulerRecord {
        SchedulerRecord(at(time), tid, kind)
    }

    /// A run as text, for short: "0: running 10-20 @1".
    private static func text(_ run: ScheduledRun) -> String {
        "\(run.thread.rawValue): \(run.state) \(run.start.nanoseconds)-\(run.end.nanoseconds)"
            + (run.core.map { " @\($0)" } ?? "")
    }

    /// Thread 0 has the id 100, thread 1 has 101.
    private static func build(
        _ records: [SchedulerRecord], end: Int64 = 1000, limit: Int = 1000
    ) -> (runs: [String], wakeups: [Wakeup], builder: ScheduleBuilder) {
        var builder = ScheduleBuilder(limit: limit)
        builder.list(ThreadIndex(0), tid: 100)
        builder.list(ThreadIndex(1), tid: 101)
        builder.add(records)
        builder.finish(at: at(end))
        return (builder.result.runs.map(text), builder.result.wakeups, builder)
    }

    @Test func aLife() {
        let waker = SchedulerRecord.Waker(tid: 101)
        let result = Self.build([
            Self.record(0, 100, .began(creator: 101)), Self.record(5, 100, .arrived(core: 1)),
            Self.record(10, 100, .left(.pushed, core: 1)),
            Self.record(12, 100, .arrived(core: 0)),
            Self.record(20, 100, .left(.waiting, core: 0)), Self.record(50, 100, .woken(waker)),
            Self.record(53, 100, .arrived(core: 0)), Self.record(60, 100, .ended),
        ])
        #expect(
            result.runs == [
                "0: runnable 0-5", "0: running 5-10 @1", "0: preempted 10-12",
                "0: running 12-20 @0", "0: blocked 20-50", "0: runnable 50-53",
                "0: running 53-60 @0",
            ])
        #expect(result.wakeups.map(\.time) == [Self.at(0), Self.at(50)])
        #expect(result.wakeups.allSatisfy { $0.waker == 101 && $0.wakerThread == ThreadIndex(1) })
    }

    @Test func withoutWakeUpsBlockedLastsToTheCore() {
        let result = Self.build([
            Self.record(0, 100, .watched), Self.record(10, 100, .left(.waiting, core: 1)),
            Self.record(30, 100, .arrived(core: 1)),
        ])
        // It had a core when it was first looked at: otherwise its arrival would have been
        // reported.
        #expect(
            result.runs == ["0: running 0-10 @1", "0: blocked 10-30", "0: running 30-1000 @1"])
        #expect(result.wakeups.isEmpty)
    }

    @Test func watchedWhileItHadNoCore() {
        let result = Self.build([
            Self.record(0, 100, .watched), Self.record(10, 100, .arrived(core: 1)),
        ])
        #expect(result.runs == ["0: running 10-1000 @1"])
    }

    @Test func runsThatGoOnAtTheEnd() {
        let kinds: [(Kind, [String])] = [
            (.watched, []), (.left(.pushed, core: 0), ["0: preempted 10-1000"]),
            (.left(.waiting, core: 0), ["0: blocked 10-1000"]),
            (.arrived(core: 2), ["0: running 10-1000 @2"]), (.ended, []),
            (.began(creator: 1), ["0: runnable 10-1000"]),
        ]
        for (kind, runs) in kinds { #expect(Self.build([Self.record(10, 100, kind)]).runs == runs) }
        let woken = Self.build([
            Self.record(10, 100, .left(.waiting, core: 0)),
            Self.record(400, 100, .woken(SchedulerRecord.Waker(tid: 5))),
        ])
        #expect(woken.runs == ["0: blocked 10-400", "0: runnable 400-1000"])
    }

    @Test func onlyTheFirstWakingCounts() {
        func waker(_ tid: Int32) -> Kind {
            .woken(SchedulerRecord.Waker(tid: tid, name: "w\(tid)", isInterrupt: tid == 5))
        }
        let result = Self.build([
            Self.record(10, 100, .left(.waiting, core: 0)), Self.record(20, 100, waker(5)),
            Self.record(21, 100, waker(6)), Self.record(30, 100, .arrived(core: 0)),
        ])
        #expect(
            result.runs == ["0: blocked 10-20", "0: runnable 20-30", "0: running 30-1000 @0"])
        #expect(result.wakeups.count == 1)
        let wakeup = result.wakeups.first
        #expect(wakeup?.waker == 5 && wakeup?.wakerName == "w5" && wakeup?.isInterrupt == true)
        #expect(wakeup?.wakerThread == nil)
    }

    /// Its state shows a wait, its core is not given up yet: it does not get blocked at all.
    @Test func wokenOnItsWayOut() {
        let waker = SchedulerRecord.Waker(tid: 101)
        let result = Self.build([
            Self.record(0, 100, .arrived(core: 0)), Self.record(9, 100, .woken(waker)),
            Self.record(10, 100, .left(.waiting, core: 0)),
            Self.record(14, 100, .arrived(core: 0)),
            Self.record(20, 100, .left(.waiting, core: 0)),
            Self.record(40, 100, .arrived(core: 0)),
        ])
        #expect(
            result.runs == [
                "0: running 0-10 @0", "0: runnable 10-14", "0: running 14-20 @0",
                "0: blocked 20-40", "0: running 40-1000 @0",
            ])
        #expect(result.wakeups.map(\.time) == [Self.at(10)])
    }

    @Test func wakingOfWhoDoesNotWaitSaysNothing() {
        let waker = SchedulerRecord.Waker(tid: 101)
        let result = Self.build([
            Self.record(0, 100, .woken(waker)), Self.record(5, 100, .left(.pushed, core: 0)),
            Self.record(6, 100, .woken(waker)), Self.record(9, 100, .arrived(core: 0)),
        ])
        #expect(result.runs == ["0: preempted 5-9", "0: running 9-1000 @0"])
        #expect(result.wakeups.isEmpty)
    }

    @Test func lostRecordsLeaveAGap() {
        let result = Self.build([
            Self.record(0, 100, .arrived(core: 0)), Self.record(0, 101, .left(.waiting, core: 1)),
            Self.record(50, 0, .lost(since: Self.at(30))),
            Self.record(60, 100, .left(.waiting, core: 0)), Self.record(70, 101, .arrived(core: 1)),
        ])
        #expect(
            result.runs == [
                "0: running 0-30 @0", "1: blocked 0-30", "0: running 50-60 @0",
                "0: blocked 60-1000", "1: running 70-1000 @1",
            ])
        #expect(result.builder.losses == 1)
    }

    @Test func lossesOfOneThreadConcernNoOther() {
        let result = Self.build([
            Self.record(0, 100, .arrived(core: 0)), Self.record(0, 101, .arrived(core: 1)),
            Self.record(50, 100, .lost(since: Self.at(30))),
        ])
        #expect(result.runs == ["0: running 0-30 @0", "1: running 0-1000 @1"])
    }

    /// Records that must have come between are missing.
    @Test func missingRecordsAreAGap() {
        let result = Self.build([
            Self.record(0, 100, .arrived(core: 0)), Self.record(10, 100, .arrived(core: 1)),
            Self.record(20, 100, .left(.waiting, core: 1)),
            Self.record(30, 100, .left(.pushed, core: 1)), Self.record(40, 100, .arrived(core: 1)),
            Self.record(35, 100, .left(.waiting, core: 1)),
        ])
        #expect(
            result.runs == ["0: running 10-20 @1", "0: preempted 30-40", "0: running 40-1000 @1"])
    }

    @Test func idsAreUsedAgain() {
        var builder = ScheduleBuilder()
        builder.list(ThreadIndex(0), tid: 100)
        builder.add(Self.record(0, 100, .arrived(core: 0)))
        // The next one is found before the end of the first is reported.
        builder.list(ThreadIndex(1), tid: 100)
        builder.add([
            Self.record(10, 100, .ended), Self.record(20, 100, .began(creator: 3)),
            Self.record(21, 100, .arrived(core: 0)),
        ])
        builder.finish(at: Self.at(30))
        #expect(
            builder.result.runs.map(Self.text) == [
                "0: running 0-10 @0", "1: runnable 20-21", "1: running 21-30 @0",
            ])
    }

    /// The scheduler's records come a little late: a process has ended, and its last run is still
    /// to come.
    @Test func lateRecordsOfAnEndedProcessCount() {
        var builder = ScheduleBuilder()
        builder.list(ThreadIndex(0), tid: 100)
        builder.list(ThreadIndex(1), tid: 101)
        builder.add([
            Self.record(0, 100, .arrived(core: 0)), Self.record(0, 101, .arrived(core: 1)),
            Self.record(5, 100, .left(.waiting, core: 0)),
        ])
        let both: [(tid: Int32, index: ThreadIndex)] = [
            (100, ThreadIndex(0)), (101, ThreadIndex(1)),
        ]
        builder.expectEnd(of: both, at: Self.at(30))
        builder.add([
            Self.record(10, 100, .woken(SchedulerRecord.Waker(tid: 101))),
            Self.record(12, 100, .arrived(core: 0)), Self.record(28, 100, .ended),
        ])
        // Nothing more was reported about the other thread; then another thread has its id.
        builder.add(Self.record(40, 101, .arrived(core: 1)))
        builder.finishEnded()
        builder.finish(at: Self.at(50))
        #expect(
            builder.result.runs.map(Self.text) == [
                "0: running 0-5 @0", "0: blocked 5-10", "0: runnable 10-12",
                "0: running 12-28 @0", "1: running 0-30 @1", "1: running 40-50 @1",
            ])
    }

    /// Another thread that executes a program takes the first one's id over.
    @Test func anExecGoesOnUnderTheFirstId() {
        let result = Self.build([
            Self.record(0, 100, .arrived(core: 0)), Self.record(10, 100, .ended),
            Self.record(12, 100, .watched), Self.record(20, 100, .left(.waiting, core: 1)),
        ])
        #expect(
            result.runs == ["0: running 0-10 @0", "0: running 12-20 @1", "0: blocked 20-1000"])
    }

    @Test func unknownThreadsAreLeftOut() {
        let result = Self.build([
            Self.record(0, 555, .began(creator: 100)), Self.record(1, 555, .arrived(core: 0)),
            Self.record(2, 555, .ended),
        ])
        #expect(result.runs.isEmpty && result.wakeups.isEmpty && result.builder.unkept == 0)
    }

    @Test func noMoreThanTheLimit() {
        let records = (0..<10).map { step in
            Self.record(
                Int64(step), 100, step % 2 == 0 ? .arrived(core: 0) : .left(.pushed, core: 0))
        }
        let result = Self.build(records, end: 10, limit: 4)
        #expect(result.runs.count == 4 && result.builder.unkept == 6)
    }

    /// With any records, in any order: the runs are in order, do not overlap, and can be stored in
    /// the file.
    @Test(arguments: 1...200) func anythingAtAll(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var builder = ScheduleBuilder()
        var runs: [ScheduledRun] = []
        for index in 0..<3 { builder.list(ThreadIndex(index), tid: Int32(100 + index)) }
        var clock: Int64 = 0
        for _ in 0..<30 {
            let records = (0..<20).map { _ in
                clock += Int64.random(in: -2...9, using: &random)
                return Self.record(
                    Int.random(in: 0..<40, using: &random) == 0 ? .min : clock,
                    Int32.random(in: 99...103, using: &random), Self.anyKind(clock, &random))
            }
            builder.add(records)
            runs += builder.result.runs
            builder.removeResult()
        }
        builder.finish(at: Self.at(clock))
        runs += builder.result.runs
        var ends: [ThreadIndex: MonotonicTime] = [:]
        for run in runs {
            #expect(run.start < run.end && run.start.nanoseconds >= 0)
            #expect(run.start >= ends[run.thread] ?? Self.at(0))
            #expect((run.core != nil) == (run.state == .running))
            ends[run.thread] = run.end
        }
        #expect(!runs.isEmpty)
    }

    private static func anyKind(_ clock: Int64, _ random: inout SeededNumbers) -> Kind {
        let core = Int32.random(in: 0...3, using: &random)
        switch Int.random(in: 0..<16, using: &random) {
        case 0: return .watched
        case 1: return .ended
        case 2: return .began(creator: 100)
        case 3: return .lost(since: at(clock - Int64.random(in: -5...50, using: &random)))
        case 4...7: return .arrived(core: core)
        case 8...9: return .left(.pushed, core: core)
        case 10...12: return .left(.waiting, core: core)
        default: return .woken(SchedulerRecord.Waker(tid: 101))
        }
    }

    /// A true account of random lives, told completely: it comes back as it was.
    @Test(arguments: 1...100) func theTruthComesBack(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var truth: [String] = []
        var records: [SchedulerRecord] = []
        for index in 0..<2 {
            let tid = Int32(100 + index)
            var time: Int64 = 0
            records.append(Self.record(0, tid, .began(creator: 1)))
            var next = ThreadState.runnable
            for _ in 0..<40 {
                let (start, state) = (time, next)
                time += Int64.random(in: 1...50, using: &random)
                var suffix = ""
                switch state {
                case .running:
                    let isPushed = Bool.random(using: &random)
                    records.append(
                        Self.record(time, tid, .left(isPushed ? .pushed : .waiting, core: 2)))
                    next = isPushed ? .preempted : .blocked
                    suffix = " @2"
                case .blocked:
                    records.append(
                        Self.record(time, tid, .woken(SchedulerRecord.Waker(tid: 9))))
                    next = .runnable
                case .runnable, .preempted:
                    records.append(Self.record(time, tid, .arrived(core: 2)))
                    next = .running
                }
                truth.append("\(index): \(state) \(start)-\(time)\(suffix)")
            }
            records.append(Self.record(time, tid, .ended))
        }
        // As it comes from several cores at once, each thread's in order.
        records.sort { ($0.time, $0.tid) < ($1.time, $1.tid) }
        #expect(Self.build(records).runs.sorted() == truth.sorted())
    }
}
