import Measurer
import ProfileModel
import Synchronization
import Testing

/// The events, in order; shared by all that note one.
private final class Log: Sendable {
    private let entries = Mutex<[String]>([])
    func note(_ entry: String) { entries.withLock { $0.append(entry) } }
    var all: [String] { entries.withLock { $0 } }
}

private struct MadeMaker: LaunchMaker {
    var course: [Made] = []
    /// Throws at the launch of this index.
    var breaksAt: Int?
    let log: Log

    mutating func make(_ request: LaunchRequest) throws(MeasuringFailure) -> MeasuredLaunch {
        log.note("launch \(request.arm)")
        if request.index == breaksAt { throw MeasuringFailure("broken", status: 127) }
        return (request.index < course.count ? course[request.index] : .good).launch(request)
    }
}

private struct MadeSink: LaunchSink {
    /// Throws when it has kept so many.
    var room = Int.max
    var finishes = true
    var discards = true
    let log: Log
    private var kept = 0

    init(room: Int = .max, finishes: Bool = true, discards: Bool = true, log: Log) {
        self.room = room
        self.finishes = finishes
        self.discards = discards
        self.log = log
    }

    static let full = MeasuringFailure("full", status: 125)

    mutating func append(_ launch: MeasuredLaunch) throws(MeasuringFailure) {
        guard kept < room else { throw Self.full }
        kept += 1
        log.note("kept \(launch.discarded?.rawValue ?? "-")")
    }

    mutating func discard(
        _ index: Int, as reason: MeasuredLaunch.Discard
    ) throws(MeasuringFailure) {
        guard discards else { throw Self.full }
        log.note("not \(index): \(reason.rawValue)")
    }

    mutating func extend(to requested: Int) { log.note("up to \(requested)") }

    mutating func finish(_ ending: Measurement.Ending) throws(MeasuringFailure) {
        guard finishes else { throw Self.full }
        log.note("end \(ending.rawValue)")
    }
}

@Suite struct MeasurerTests {
    private func run(
        _ course: [Made] = [], arms: Int = 1, requested: Int = 2, breaksAt: Int? = nil,
        sink: (Log) -> MadeSink = { MadeSink(log: $0) },
        hooks: (Log) -> MeasuringHooks = { _ in .init() }
    ) -> (result: Measurer<MadeMaker, MadeSink>.Result, log: [String]) {
        let log = Log()
        var measurer = Measurer(
            plan: .made(arms: arms, requested: requested),
            maker: MadeMaker(course: course, breaksAt: breaksAt, log: log), sink: sink(log),
            hooks: hooks(log))
        return (measurer.run(), log.all)
    }

    @Test func launchesAreKeptAsTheyCome() {
        let (result, log) = run()
        #expect(result.end == .complete)
        #expect(result.sinkFailure == nil)
        #expect(
            log == [
                "launch 0", "kept first", "launch 0", "kept -", "launch 0", "kept -",
                "end complete",
            ])
    }

    /// The observer of the launches may ask for more.
    @Test func moreAreMadeWhereTheyAreAskedFor() {
        let (result, log) = run(
            requested: 1,
            hooks: { log in
                var hooks = MeasuringHooks()
                hooks.extend = { launches in
                    log.note("asked after \(launches.count)")
                    return launches.count < 4 ? launches.count : nil
                }
                return hooks
            })
        #expect(result.end == .complete && result.launches.count == 4)
        #expect(
            log == [
                "launch 0", "kept first", "launch 0", "kept -", "asked after 2", "up to 2",
                "launch 0", "kept -", "asked after 3", "up to 3", "launch 0", "kept -",
                "asked after 4", "end complete",
            ])
    }

    @Test func lateDiscardsReachTheSink() {
        let (result, log) = run([.good, .good, .status1, .good], requested: 3)
        #expect(result.end == .complete)
        #expect(result.launches.map(\.discarded) == [.first, nil, .otherStatus, nil, nil])
        #expect(log.suffix(4) == ["not 2: other_status", "launch 0", "kept -", "end complete"])
    }

    /// Where the plan ends with them.
    @Test func lateDiscardsReachTheSinkAtTheEnd() {
        let (result, log) = run(
            [.good, .killed, .killed, .killed, .status1, .good, .status1, .good], requested: 4)
        #expect(result.end == .gaveUp(arm: 0, reason: .failed, counted: 2))
        #expect(
            log.suffix(3) == ["not 4: other_status", "not 6: other_status", "end gave_up"])
    }

    @Test func progress() {
        let (_, log) = run(hooks: { log in
            var hooks = MeasuringHooks()
            hooks.tell = { log.note("\($0.index): \($0.counted) of \($0.requested)") }
            return hooks
        })
        #expect(
            log == [
                "launch 0", "0: 0 of 2", "kept first", "launch 0", "1: 1 of 2", "kept -",
                "launch 0", "2: 2 of 2", "kept -", "end complete",
            ])
    }

    @Test func interruptedBetween() {
        for number in 0...2 {
            let (result, log) = run(hooks: { log in
                var hooks = MeasuringHooks()
                hooks.isInterrupted = {
                    log.all.count { $0.hasPrefix("launch") } == number
                }
                return hooks
            })
            #expect(result.end == .interrupted)
            #expect(result.launches.count == number)
            // No launch begins that is not wanted any more.
            #expect(log.count { $0.hasPrefix("launch") } == number)
            #expect(log.last == "end interrupted")
        }
    }

    /// Ctrl-C ends a command of the user's, too.
    @Test func aFailureBecauseOfTheInterrupt() {
        let (result, log) = run(
            breaksAt: 1,
            hooks: { log in
                var hooks = MeasuringHooks()
                // It comes while the second launch is prepared.
                hooks.isInterrupted = { log.all.count { $0.hasPrefix("launch") } == 2 }
                return hooks
            })
        #expect(result.end == .interrupted)
        #expect(result.launches.count == 1)
        #expect(log.last == "end interrupted")
    }

    @Test func interruptedInALaunch() {
        let (result, log) = run([.good, .interrupted])
        #expect(result.end == .interrupted)
        #expect(log.suffix(2) == ["kept interrupted", "end interrupted"])
    }

    @Test func launchesThatCannotBeMade() {
        for number in 0...2 {
            let (result, log) = run(breaksAt: number)
            #expect(result.end == .failed(MeasuringFailure("broken", status: 127)))
            #expect(result.launches.count == number)
            #expect(result.sinkFailure == nil)
            #expect(log.last == "end gave_up")
        }
    }

    /// The launches so far stay available.
    @Test func aFullDisk() {
        for room in 0...2 {
            let (result, log) = run(sink: { MadeSink(room: room, log: $0) })
            #expect(result.end == .failed(MadeSink.full))
            #expect(result.sinkFailure == MadeSink.full)
            #expect(result.launches.count == room + 1)
            #expect(!log.contains { $0.hasPrefix("end") })
        }
    }

    @Test func aFullDiskAtTheEnd() {
        let (result, _) = run(sink: { MadeSink(finishes: false, log: $0) })
        #expect(result.end == .failed(MadeSink.full) && result.sinkFailure == MadeSink.full)
        #expect(result.launches.count == 3)
        let (late, _) = run(
            [.good, .good, .status1, .good], requested: 3,
            sink: { MadeSink(discards: false, log: $0) })
        #expect(late.sinkFailure == MadeSink.full)
        #expect(late.launches.count == 4)
    }

    /// A user who asked for the end gets its status, whatever else went wrong.
    @Test func aFullDiskAndAnInterrupt() {
        let (result, _) = run([.good, .interrupted], sink: { MadeSink(room: 1, log: $0) })
        #expect(result.end == .interrupted)
        #expect(result.sinkFailure == MadeSink.full)
    }
}
