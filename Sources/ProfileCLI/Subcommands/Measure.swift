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
        let signals = MeasuringRun.takeSignals()
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
        var run = try MeasuringRun(options, signals, console)
        let result = try run.launch(keptIn: options.output)
        let shown = show(run.measurement, options, console)
        run.tellEnd(of: result)
        if result.end == .complete, options.thenRecords {
            try TypicalLaunch(
                options: options, measurement: run.measurement, launcher: run.launcher
            ).record(console)
        }
        let status = run.status(of: result)
        return status == 0 ? shown : status
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

/// Keeps launches in the measurement's file, if there is one.
struct FileSink: LaunchSink {
    private let writer: MeasurementWriter?

    /// - Parameter path: what was there becomes `path`.old; nil: nothing is kept.
    init(_ path: String?, _ measurement: Measurement) throws(MeasuringFailure) {
        guard let path else {
            writer = nil
            return
        }
        writer = try MeasureCommand.attempt { () throws(RecordingError) in
            try RecordingFile.keepOlder(at: path, for: .measurement)
            return try MeasurementWriter(creating: path, measurement)
        }
    }

    mutating func append(_ launch: MeasuredLaunch) throws(MeasuringFailure) {
        try MeasureCommand.attempt { () throws(RecordingError) in try writer?.append(launch) }
    }

    mutating func discard(
        _ index: Int, as reason: MeasuredLaunch.Discard
    ) throws(MeasuringFailure) {
        try MeasureCommand.attempt { () throws(RecordingError) in
            try writer?.discard(index, as: reason)
        }
    }

    mutating func extend(to requested: Int) { writer?.extend(to: requested) }

    mutating func finish(_ ending: Measurement.Ending) throws(MeasuringFailure) {
        try MeasureCommand.attempt { () throws(RecordingError) in try writer?.finish(ending) }
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
