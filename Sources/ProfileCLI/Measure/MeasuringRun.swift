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
