import Analysis
import Glibc
import Measurer
import ProcessIO
import ProfileModel
import Recording
import Sampler
import System

/// The launches of a measurement: made according to the options, stored in a file, and reported.
/// The common part of `measure` and `gate`.
struct MeasuringRun {
    typealias Result = Measurer<ProgramLauncher, FileSink>.Result

    let launcher: ProgramLauncher
    /// Has all launches once they are made.
    private(set) var measurement: Measurement
    private let options: MeasureOptions
    private var words: MeasuringWords
    private let teller: LaunchTeller
    private let console: Console

    /// Call it before the process has any other thread.
    static func takeSignals() -> SignalQueue {
        let signals = SignalQueue(launching: true)
        // Exceeding the file size limit must fail like any other write error. The handler is empty,
        // because programs would inherit an ignored signal.
        signal(SIGXFSZ) { _ in }
        return signals
    }

    /// Finds the programs, and sets up the conditions. Nothing is launched yet.
    ///
    /// - Parameter showsPart: true if incomplete results are shown after an interruption.
    init(
        _ options: MeasureOptions, _ signals: SignalQueue, _ console: Console,
        showsPart: Bool = true
    ) throws(MeasuringFailure) {
        self.options = options
        self.console = console
        let launcher = try ProgramLauncher(options, signals, tell: { console.complain($0) })
        self.launcher = launcher
        measurement = Measurement(
            header: Measurement.Header(
                requested: options.launches, versionName: options.versionName,
                recorderVersion: Version.current, date: WallClock.now),
            arms: launcher.measuredArms, conditions: launcher.measuredConditions, machine: .here)
        words = MeasuringWords(
            names: launcher.names, watchdog: options.end.watchdog,
            until: measurement.conditions.until)
        words.showsPart = showsPart
        teller = LaunchTeller(words: words, console: console)
    }

    /// Makes the launches.
    ///
    /// - Parameters:
    ///   - path: where to store them; nil: nowhere.
    ///   - extend: like ``MeasuringHooks/extend``.
    mutating func launch(
        keptIn path: String?, extend: @escaping ([MeasuredLaunch]) -> Int? = { _ in nil }
    ) throws(MeasuringFailure) -> Result {
        let arms = launcher.arms.count
        var hooks = hooks
        hooks.extend = extend
        var measurer = Measurer(
            plan: LaunchPlan(
                arms: arms, requested: options.launches,
                order: PairedTurns(arms: arms, seed: .random(in: 0 ... .max))),
            maker: launcher, sink: try FileSink(path, measurement), hooks: hooks)
        let result = measurer.run()
        console.line.wipe()
        // This reason is known only after enough launches.
        for (index, launch) in result.launches.enumerated() where launch.discarded == .otherStatus {
            teller.tell(launch, index: index)
        }
        measurement.launches = result.launches
        measurement.header.requested = result.requested
        measurement.header.ending = result.end.ending
        measurement.conditions = launcher.measuredConditions
        return result
    }

    private var hooks: MeasuringHooks {
        let (options, words, teller, console) = (options, words, teller, console)
        var hooks = MeasuringHooks()
        hooks.isInterrupted = { Interrupt.isPending }
        hooks.tell = { progress in
            teller.tell(progress.launch, index: progress.index)
            if !options.isQuiet { console.line.show(words.progress(progress)) }
        }
        return hooks
    }

    /// Reports, at the end, everything except the figures.
    func tellEnd(of result: Result) {
        for note in launcher.notes { console.complain(note) }
        if let text = ending(of: result) { console.complain(text) }
        if let failure = result.sinkFailure, result.end != .failed(failure) {
            console.complain(failure.message)
        }
    }

    /// Why there are no more launches; nil: there are enough.
    func ending(of result: Result) -> String? {
        words.ending(result.end, details: launcher.details)
    }

    /// The exit status of `measure`.
    func status(of result: Result) -> Int32 {
        switch result.end {
        case .complete: 0
        case .interrupted: 128 + (launcher.endSignal ?? Interrupt.pending ?? SIGINT)
        case .gaveUp: OwnStatus.gaveUp
        case .failed(let failure): failure.status
        }
    }
}

/// The order of the procedure (``PairedOrder``), in pairs.
struct PairedTurns: ArmOrder {
    private let arms: Int
    private var order: PairedOrder

    init(arms: Int, seed: UInt64) {
        self.arms = arms
        order = PairedOrder(seed: seed)
    }

    mutating func nextPair() -> LaunchPair {
        guard let first = order.next(), let second = order.next() else {
            return LaunchPair(arms: Array(0..<arms), padding: EnvironmentPadding(size: 0))
        }
        return LaunchPair(
            arms: arms == 1 ? [0] : [first.arm, second.arm],
            padding: EnvironmentPadding(size: first.padding))
    }
}

/// Stores launches in the measurement's file, if there is one.
struct FileSink: LaunchSink {
    private let writer: MeasurementWriter?

    /// - Parameter path: an earlier file there becomes `path`.old; nil: nothing is stored.
    init(_ path: String?, _ measurement: Measurement) throws(MeasuringFailure) {
        guard let path else {
            writer = nil
            return
        }
        writer = try MeasuringFailure.attempt { () throws(RecordingError) in
            try RecordingFile.keepOlder(at: path, for: .measurement)
            return try MeasurementWriter(creating: path, measurement)
        }
    }

    mutating func append(_ launch: MeasuredLaunch) throws(MeasuringFailure) {
        try MeasuringFailure.attempt { () throws(RecordingError) in try writer?.append(launch) }
    }

    mutating func discard(
        _ index: Int, as reason: MeasuredLaunch.Discard
    ) throws(MeasuringFailure) {
        try MeasuringFailure.attempt { () throws(RecordingError) in
            try writer?.discard(index, as: reason)
        }
    }

    mutating func extend(to requested: Int) { writer?.extend(to: requested) }

    mutating func finish(_ ending: Measurement.Ending) throws(MeasuringFailure) {
        try MeasuringFailure.attempt { () throws(RecordingError) in try writer?.finish(ending) }
    }
}

/// Reports each failed launch once: the problem, and the program's output.
final class LaunchTeller {
    private let words: MeasuringWords
    private let console: Console
    private var told: Set<Int> = []
    /// The same output is not repeated hundreds of times.
    private var lastOutput = ""
    /// How many launches failed in the same way.
    private var alike: [Way: Int] = [:]
    private static let mostAlike = 3

    private struct Way: Hashable {
        var arm: Int
        var reason: MeasuredLaunch.Discard?
    }

    init(words: MeasuringWords, console: Console) {
        self.words = words
        self.console = console
    }

    /// - Parameter index: the launch's index among all launches.
    func tell(_ launch: MeasuredLaunch, index: Int) {
        guard !told.contains(index), let complaint = words.complaint(launch, index: index) else {
            return
        }
        told.insert(index)
        let way = Way(arm: launch.arm, reason: launch.discarded)
        let count = (alike[way] ?? 0) + 1
        alike[way] = count
        guard count <= Self.mostAlike else { return }
        let isLast = count == Self.mostAlike
        console.complain(complaint + (isLast ? "; more of these are only counted" : ""))
        let output = MeasuringWords.quoted(launch.output)
        guard output != lastOutput else { return }
        lastOutput = output
        // The reader may have closed the stream.
        try? console.write(output, to: .error)
    }
}
