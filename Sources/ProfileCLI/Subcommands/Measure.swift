import Analysis
import Conditions
import Glibc
import Measurer
import ProfileModel
import Recording
import Report
import Sampler

/// `firstlight measure`.
enum MeasureCommand {
    /// For whatever was asked for and cannot be had.
    static let gaveUp: Int32 = 1
    /// Our own failure, as of the other subcommands that run programs.
    static let ownFailure: Int32 = RecordCommand.ownFailure

    /// Measures, prints the summary, and returns the exit status.
    static func run(_ options: MeasureOptions, _ console: Console) -> Int32 {
        let signals = SignalQueue(launching: true)
        // A limit of file size is an error like any other. Programs would inherit that the signal is
        // ignored, but no handler.
        signal(SIGXFSZ) { _ in }
        do throws(MeasuringFailure) {
            return try measure(options, signals, console)
        } catch {
            console.complain(error.message)
            return error.status
        }
    }

    private static func measure(
        _ options: MeasureOptions, _ signals: SignalQueue, _ console: Console
    ) throws(MeasuringFailure) -> Int32 {
        try attempt { () throws(RecordingError) in
            try RecordingFile.checkWritable(options.output, for: .measurement)
        }
        let maker = try ProgramLauncher(options, signals, tell: { console.complain($0) })
        var measurement = measurement(options, maker)
        let sink = try FileSink(options.output, measurement)
        let words = MeasuringWords(
            names: maker.names, watchdog: options.end.watchdog,
            until: measurement.conditions.until)
        let commands = maker.arms.count
        let teller = LaunchTeller(words: words, console: console)
        var measurer = Measurer(
            plan: LaunchPlan(
                arms: commands, requested: options.launches,
                order: PairedTurns(arms: commands, seed: .random(in: 0 ... .max))),
            maker: maker, sink: sink, hooks: hooks(options, words, teller, console))
        let result = measurer.run()
        console.line.wipe()
        // Known only when there were enough of them.
        for (index, launch) in result.launches.enumerated() where launch.discarded == .otherStatus {
            teller.tell(launch, index: index)
        }
        measurement.launches = result.launches
        measurement.header.ending = result.end.ending
        measurement.conditions = maker.measuredConditions
        let shown = show(measurement, options, console)
        for note in maker.notes { console.complain(note) }
        if let text = words.ending(result.end, details: maker.details) { console.complain(text) }
        if let failure = result.sinkFailure, result.end != .failed(failure) {
            console.complain(failure.message)
        }
        if result.end == .complete, options.thenRecords {
            try TypicalLaunch(options: options, measurement: measurement, launcher: maker)
                .record(console)
        }
        let status = status(of: result.end, signal: maker.endSignal)
        return status == 0 ? shown : status
    }

    /// All that is known before the first launch.
    private static func measurement(
        _ options: MeasureOptions, _ maker: ProgramLauncher
    ) -> Measurement {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Measurement(
            header: Measurement.Header(
                requested: options.launches, versionName: options.versionName,
                recorderVersion: Version.current,
                date: Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)),
            arms: maker.measuredArms, conditions: maker.measuredConditions, machine: .here)
    }

    private static func hooks(
        _ options: MeasureOptions, _ words: MeasuringWords, _ teller: LaunchTeller,
        _ console: Console
    ) -> MeasuringHooks {
        var hooks = MeasuringHooks()
        hooks.isInterrupted = { Interrupt.isPending }
        hooks.tell = { progress in
            teller.tell(progress.launch, index: progress.index)
            if !options.isQuiet { console.line.show(words.progress(progress)) }
        }
        return hooks
    }

    /// Prints the summary, of however many launches there are.
    ///
    /// - Returns: the exit status of that.
    private static func show(
        _ measurement: Measurement, _ options: MeasureOptions, _ console: Console
    ) -> Int32 {
        guard !options.isQuiet, !measurement.launches.isEmpty else { return 0 }
        let summary = MeasurementSummary(of: measurement)
        switch options.format {
        case .json:
            return Output.print(MeasurementReport.json(measurement, summary), to: console)
        case .text:
            let terminal = console.terminal(of: .output)
            var text = TextOptions()
            text.width = terminal.width
            text.usesColour = terminal.usesColour
            return Output.print(
                MeasurementReport.text(measurement, summary, options: text), to: console)
        }
    }

    private static func status(of end: MeasuringEnd, signal: Int32?) -> Int32 {
        switch end {
        case .complete: 0
        case .interrupted: 128 + (signal ?? Interrupt.pending ?? SIGINT)
        case .gaveUp: gaveUp
        case .failed(let failure): failure.status
        }
    }

    /// What goes wrong in other modules, with the status that it has here.
    static func attempt<Value>(
        _ body: () throws(RecordingError) -> Value
    ) throws(MeasuringFailure) -> Value {
        do {
            return try body()
        } catch {
            throw MeasuringFailure(error.description, status: ownFailure)
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

/// Keeps launches in the measurement's file.
struct FileSink: LaunchSink {
    private let writer: MeasurementWriter

    /// What was at `path` becomes `path`.old.
    init(_ path: String, _ measurement: Measurement) throws(MeasuringFailure) {
        writer = try MeasureCommand.attempt { () throws(RecordingError) in
            try RecordingFile.keepOlder(at: path, for: .measurement)
            return try MeasurementWriter(creating: path, measurement)
        }
    }

    mutating func append(_ launch: MeasuredLaunch) throws(MeasuringFailure) {
        try MeasureCommand.attempt { () throws(RecordingError) in try writer.append(launch) }
    }

    mutating func discard(
        _ index: Int, as reason: MeasuredLaunch.Discard
    ) throws(MeasuringFailure) {
        try MeasureCommand.attempt { () throws(RecordingError) in
            try writer.discard(index, as: reason)
        }
    }

    mutating func extend(to requested: Int) { writer.extend(to: requested) }

    mutating func finish(_ ending: Measurement.Ending) throws(MeasuringFailure) {
        try MeasureCommand.attempt { () throws(RecordingError) in try writer.finish(ending) }
    }
}

/// The launch with stacks after a measurement (`--then-record`).
struct TypicalLaunch {
    let options: MeasureOptions
    let measurement: Measurement
    let launcher: ProgramLauncher

    /// Records it, under the conditions of those that were measured, and says how far it was from the
    /// median.
    func record(_ console: Console) throws(MeasuringFailure) {
        guard let record = options.recordOptions, let arm = launcher.arms.first else { return }
        try launcher.renew(arm, isFirst: false)
        guard let streams = StreamsAside() else { return }
        // What the program writes is not ours to show.
        let status = RecordCommand.run(
            record, streams.console, in: RecordingConditions(arm.conditions))
        _ = arm.conditions.clean()
        streams.restore()
        let path = options.recordingPath
        guard let recording = try? RecordingReader.load(path: path) else {
            console.complain("the launch with stacks could not be recorded (status \(status))")
            return
        }
        let wall = Profile(recording).launch.wall
        guard let median = MeasurementSummary(of: measurement).arms.first?.wall?.median else {
            return
        }
        console.complain(
            MeasuringWords.typical(
                path: path, wall: wall, median: TimeSpan(nanoseconds: Int64(median))))
    }
}

extension MeasureOptions {
    /// As `record` would have them; nil: they cannot be, for which there is no reason.
    var recordOptions: RecordOptions? {
        var arguments = ParsedArguments(subcommand: .record)
        arguments.program = program
        arguments.operands = program.map(\.text)
        arguments.options[.output] = .text(recordingPath)
        arguments.options[.quiet] = .given
        arguments.options[.after] = .text(after.rawValue)
        arguments.lists[.until] = end.until.map { .text($0.description) }
        if let watchdog = end.watchdog { arguments.options[.watchdog] = .duration(watchdog) }
        return try? RecordOptions(arguments)
    }
}
