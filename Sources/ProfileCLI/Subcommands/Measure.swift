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
    /// For anything that was requested but is not possible.
    static let gaveUp: Int32 = 1
    /// Our own failure, as in the other subcommands that run programs.
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

    /// Prints the summary, whatever the number of launches.
    ///
    /// - Returns: the exit status of printing.
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
                console.words(MeasurementReport.text(measurement, summary, options: text)),
                to: console)
        }
    }

    /// Turns errors of other modules into failures with an exit status.
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

/// Stores launches in the measurement's file, if there is one.
struct FileSink: LaunchSink {
    private let writer: MeasurementWriter?

    /// - Parameter path: an earlier file there becomes `path`.old; nil: nothing is stored.
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

    /// Records it, and reports how far it was from the median.
    func record(_ console: Console) throws(MeasuringFailure) {
        let path = options.recordingPath
        let launch = StackedLaunch(options: options, launcher: launcher)
        guard let profile = try launch.record(arm: 0, to: path, tell: { console.complain($0) }),
            let median = MeasurementSummary(of: measurement).arms.first?.wall?.median
        else { return }
        console.complain(
            MeasuringWords.typical(
                path: path, wall: profile.launch.wall,
                median: TimeSpan(nanoseconds: Int64(median))))
    }
}
