import ProfileModel
import Testing

@testable import Sampler

/// In microseconds; the last look was at 1,000.
@Suite struct CoreTallyTests {
    private static func at(_ microseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: microseconds * 1000)
    }

    private static func tally(_ records: [(Int64, SchedulerRecord.Kind)]) -> CoreTally {
        var tally = CoreTally()
        for (time, kind) in records {
            tally.take(SchedulerRecord(at(time), 7, kind), after: at(1000))
        }
        return tally
    }

    private static func expect(
        _ tally: CoreTally, running: Int64, wanted: Int64 = 0, hasWaited: Bool = false,
        end: Int64?, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            tally.running == TimeSpan(nanoseconds: running * 1000), sourceLocation: sourceLocation)
        #expect(
            tally.wantedCore == TimeSpan(nanoseconds: wanted * 1000),
            sourceLocation: sourceLocation)
        #expect(tally.hasWaited == hasWaited, sourceLocation: sourceLocation)
        #expect(tally.end == end.map(at), sourceLocation: sourceLocation)
    }

    /// The state that the first record ends has lasted since the look.
    @Test func theFirstRecordTellsWhatWasBefore() {
        Self.expect(Self.tally([(1500, .ended)]), running: 500, end: 1500)
        Self.expect(Self.tally([(1500, .left(.pushed, core: 0))]), running: 500, end: nil)
        Self.expect(
            Self.tally([(1300, .arrived(core: 1)), (1500, .ended)]), running: 200, wanted: 300,
            end: 1500)
    }

    @Test func pushedOffAndBack() {
        Self.expect(
            Self.tally([
                (700, .arrived(core: 0)), (1200, .left(.pushed, core: 0)),
                (1600, .arrived(core: 1)), (1900, .ended),
            ]), running: 500, wanted: 400, end: 1900)
    }

    @Test func aWaitIsNeitherRunningNorWantingACore() {
        Self.expect(
            Self.tally([
                (1200, .left(.waiting, core: 0)), (1700, .woken(SchedulerRecord.Waker(tid: 9))),
                (1800, .arrived(core: 0)), (1900, .ended),
            ]), running: 300, wanted: 100, hasWaited: true, end: 1900)
    }

    /// A thread that is woken before it is asleep runs on.
    @Test func aWakingOfOneThatRuns() {
        Self.expect(
            Self.tally([
                (900, .arrived(core: 0)), (1200, .woken(SchedulerRecord.Waker(tid: 9))),
                (1400, .ended),
            ]), running: 400, end: 1400)
    }

    @Test func timeBeforeTheLookDoesNotCount() {
        Self.expect(
            Self.tally([
                (100, .arrived(core: 0)), (400, .left(.waiting, core: 0)),
                (500, .arrived(core: 0)), (800, .left(.pushed, core: 0)), (900, .arrived(core: 0)),
                (1100, .ended),
            ]), running: 100, end: 1100)
    }

    @Test func aLossIsNotGuessedOver() {
        Self.expect(
            Self.tally([
                (900, .arrived(core: 0)), (1500, .lost(since: Self.at(1100))),
                (1700, .left(.pushed, core: 0)), (1800, .arrived(core: 0)), (1900, .ended),
            ]), running: 300, wanted: 100, end: 1900)
    }

    @Test func aLookBeginsAnew() {
        var tally = Self.tally([(900, .arrived(core: 0)), (1500, .left(.pushed, core: 0))])
        tally.restart()
        tally.take(SchedulerRecord(Self.at(1900), 7, .arrived(core: 0)), after: Self.at(1800))
        tally.take(SchedulerRecord(Self.at(2000), 7, .ended), after: Self.at(1800))
        Self.expect(tally, running: 100, wanted: 100, end: 2000)
    }

    enum Constancy {
        case asleep
        case atWork
        /// It changed, or may have.
        case none
    }

    /// A thread in the same state as at the last look need not be looked at. A thread that changed meanwhile
    /// must be.
    @Test(
        arguments: [
            ([(900, .arrived(core: 0))], .atWork),
            ([(900, .began(creator: 6))], .atWork),
            ([(800, .arrived(core: 0)), (900, .left(.waiting, core: 0))], .asleep),
            ([(800, .arrived(core: 0)), (900, .left(.pushed, core: 0))], .atWork),
            (
                [(800, .left(.waiting, core: 0)), (900, .woken(SchedulerRecord.Waker(tid: 9)))],
                .atWork
            ),
            ([(900, .arrived(core: 0)), (1100, .left(.pushed, core: 0))], .none),
            ([(900, .left(.pushed, core: 0)), (1100, .arrived(core: 0))], .none),
            ([(800, .arrived(core: 0)), (1100, .left(.waiting, core: 0))], .none),
            (
                [
                    (900, .left(.waiting, core: 0)), (1100, .arrived(core: 0)),
                    (1200, .left(.waiting, core: 0)),
                ], .none
            ),
            ([(900, .arrived(core: 0)), (1100, .lost(since: Self.at(1000)))], .none),
            ([(900, .left(.waiting, core: 0)), (950, .lost(since: Self.at(940)))], .none),
            ([(900, .arrived(core: 0)), (950, .ended)], .none),
            ([], .none),
        ] as [([(Int64, SchedulerRecord.Kind)], Constancy)])
    func constantStates(records: [(Int64, SchedulerRecord.Kind)], constancy: Constancy) {
        let tally = Self.tally(records)
        #expect(tally.isAsleep == (constancy == .asleep))
        #expect(tally.isAtWork == (constancy == .atWork))
    }
}
