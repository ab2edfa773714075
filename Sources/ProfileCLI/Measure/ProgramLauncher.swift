import Analysis
import CSystem
import Conditions
import Glibc
import Launching
import Measurer
import ProcessIO
import ProfileModel
import Readiness
import Sampler
import System

/// Launches the programs of a measurement under its conditions.
final class ProgramLauncher: LaunchMaker {
    let arms: [LaunchedArm]
    private let options: MeasureOptions
    private let tail: OutputTail
    private let tell: (String) -> Void
    private let start: MonotonicTime
    /// Daemons that were reported already.
    private var named: Set<String> = []
    /// The signal that ended a launch of ours; nil: none did.
    private(set) var endSignal: Int32?
    /// More on why launches did not count, from the last one of each kind.
    private(set) var details: [MeasuredLaunch.Discard: String] = [:]

    init(
        _ options: MeasureOptions, _ signals: SignalQueue, tell: @escaping (String) -> Void
    ) throws(MeasuringFailure) {
        self.options = options
        self.tell = tell
        let request = try MeasuringFailure.attempt { () throws(ConditionError) in
            try ConditionRequest(options)
        }
        let commands =
            [options.program] + (options.against.map { [$0.map { CommandWord($0) }] } ?? [])
        var arms: [LaunchedArm] = []
        for command in commands { arms.append(try LaunchedArm(command, request, signals)) }
        self.arms = arms
        guard let tail = OutputTail() else {
            throw MeasuringFailure(
                "no memory for what the program prints", status: OwnStatus.failure)
        }
        self.tail = tail
        start = .now
    }

    var names: [String] {
        arms.map { $0.command.map(\.text).joined(separator: " ") }
    }

    var measuredArms: [MeasuredArm] {
        arms.map { MeasuredArm(command: $0.command.map(\.text), path: $0.measurer.programPath) }
    }

    var measuredConditions: MeasuredConditions {
        let until = options.end.until.map(\.description)
        return arms.first?.conditions.measured(until: until) ?? MeasuredConditions(until: until)
    }

    /// Notes for readers of the figures, each once.
    var notes: [String] {
        var notes: [String] = []
        for note in arms.flatMap(\.conditions.notes) where !notes.contains(note) {
            notes.append(note)
        }
        return notes
    }

    // MARK: - One launch

    func make(_ request: LaunchRequest) throws(MeasuringFailure) -> MeasuredLaunch {
        let arm = arms[request.arm]
        let found = CacheFound()
        let finished: FinishedLaunch
        do throws(MeasuringFailure) {
            try renew(arm, isFirst: request.index == 0)
            finished = try launch(arm, request, found)
        } catch {
            // A command of the user may have left processes behind.
            clean()
            throw error
        }
        // If only one of two programs starts processes, that is part of their difference.
        if arm.measurer.startsProcesses {
            for other in arms { other.measurer.startsProcesses = true }
        }
        var launch = MeasuredLaunch(finished.observed, arm: request.arm, since: start)
        endSignal = finished.endSignal ?? endSignal
        if let program = finished.program { end(program) }
        let left = clean()
        if let process = left.first, launch.discarded == .notReady {
            details[.notReady] =
                "it left \(process.plainName) running: measure needs a program that stays in the "
                + "foreground"
        }
        if let opened = arm.opened {
            try MeasuringFailure.attempt { () throws(ConditionError) in
                try arm.conditions.use(files: opened.paths)
            }
            arm.opened = nil
        }
        try judge(&launch, arm, found.state)
        launch.output = tail.take()
        return launch
    }

    /// Restores the home and runs the user's commands before a launch.
    func renew(_ arm: LaunchedArm, isFirst: Bool) throws(MeasuringFailure) {
        let results = try MeasuringFailure.attempt { () throws(ConditionError) in
            try arm.conditions.renew(isFirst: isFirst)
        }
        for (command, result) in results where !result.hasSucceeded {
            let output = result.output.split(separator: "\n").last.map { ": \($0)" } ?? ""
            throw MeasuringFailure(
                "the command '\(command)' \(result.ending.words)\(output)",
                status: OwnStatus.gaveUp)
        }
    }

    private func launch(
        _ arm: LaunchedArm, _ request: LaunchRequest, _ found: CacheFound
    ) throws(MeasuringFailure) -> FinishedLaunch {
        var child = arm.conditions.childSetting
        child.environment.append(
            EnvironmentChange(EnvironmentPadding.name, request.padding.value))
        child.tellsOpens = [.cold, .coldCopies].contains(options.cache) && request.pair == nil
        var launch = LaunchOptions(until: options.end.until, watchdog: options.end.watchdog)
        launch.child = child
        launch.output = tail.descriptor
        launch.error = tail.descriptor
        // Called by this thread, during the call below.
        nonisolated(unsafe) let (arm, here) = (arm, found)
        launch.prepare = { _ in
            do throws(ConditionError) {
                here.state = try arm.conditions.evict()
            } catch {
                here.failure = error
            }
        }
        launch.takeListener = { listener in
            arm.opened = OpenedFiles(listener: listener, program: arm.measurer.programPath)
        }
        let finished = try MeasuringFailure.attempt { () throws(SamplerError) in
            try arm.measurer.launch(launch)
        }
        if let failure = found.failure {
            throw MeasuringFailure(failure.description, status: failure.exitStatus)
        }
        return finished
    }

    /// The state of the page cache when a launch began.
    private final class CacheFound {
        var state: CacheState?
        var failure: ConditionError?
    }

    private func judge(
        _ launch: inout MeasuredLaunch, _ arm: LaunchedArm, _ state: CacheState?
    ) throws(MeasuringFailure) {
        launch.cachedBytes = state?.cachedBytes
        launch.fileBytes = state?.fileBytes
        switch arm.conditions.judge(state, readBytes: launch.readBytes) {
        case nil, .cold: break
        case .warm(let reason), .unproven(let reason):
            details[.warm] = reason
            launch.discarded = launch.discarded ?? .warm
        }
    }

    // MARK: - After a launch

    private func end(_ pid: Int32) {
        let program = ProgramEnd(pid: pid)
        if options.after == .keep, endSignal == nil {
            program.await(unless: { Interrupt.isPending })
        } else {
            program.stop()
        }
    }

    /// Ends the processes that a launch left behind, and names those that still run. The helpers of
    /// all arms are children of ours, too, and are spared.
    ///
    /// - Returns: the processes that were found.
    @discardableResult
    func clean() -> [LeftBehind] {
        let helpers = arms.reduce(into: Set<Int32>()) { $0.formUnion($1.conditions.helpers) }
        let left = arms.first?.conditions.clean(kept: helpers) ?? []
        for process in left { name(process) }
        return left
    }

    /// A daemon that stays running is named once, not after each launch.
    private func name(_ process: LeftBehind) {
        guard process.end == .running || process.end == .remains,
            named.insert(process.name).inserted
        else { return }
        tell(
            "left behind by a launch: \(process)"
                + (process.end == .running ? " (--clean ends it)" : ""))
    }
}

/// A program, and the resources that its launches need.
final class LaunchedArm {
    let measurer: LaunchMeasurer
    let conditions: LaunchConditions
    let command: [CommandWord]
    /// The files that the first launch opens; nil: not needed, or not known yet.
    var opened: OpenedFiles?

    init(
        _ command: [CommandWord], _ request: ConditionRequest, _ signals: SignalQueue
    ) throws(MeasuringFailure) {
        self.command = command
        measurer = try MeasuringFailure.attempt { () throws(SamplerError) in
            try LaunchMeasurer(command, signals: signals)
        }
        let path = measurer.programPath
        conditions = try MeasuringFailure.attempt { () throws(ConditionError) in
            let conditions = try LaunchConditions(request, program: path)
            try conditions.adoptOrphans()
            return conditions
        }
    }
}

/// The end of a launched program's output: enough to find the cause of a failure.
///
/// The output goes to memory, as to a file, so no process must wake up to empty a pipe. /dev/null
/// is not used, because programs that detect it do less than usual.
struct OutputTail: ~Copyable {
    /// How much is kept, in bytes.
    static let length = 4096

    /// For the program's standard output and error.
    let descriptor: Int32

    /// nil: no memory, or no descriptor is left.
    init?() {
        descriptor = fl_memory_file("firstlight-output")
        guard descriptor >= 0 else { return nil }
        // Two descriptors share the file, so each write must go to its end.
        _ = fcntl(descriptor, F_SETFL, O_APPEND)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Returns the end of the output since the last call, and discards that output.
    func take() -> String {
        defer { ftruncate(descriptor, 0) }
        let size = lseek(descriptor, 0, SEEK_END)
        guard size > 0 else { return "" }
        let start = max(0, size - Self.length)
        var bytes = [UInt8](repeating: 0, count: Self.length)
        let count = pread(descriptor, &bytes, bytes.count, start)
        guard count > 0 else { return "" }
        // Skips the rest of a multi-byte character.
        let text = bytes.prefix(count).drop { start > 0 && $0 & 0xC0 == 0x80 }
        return String(decoding: text, as: UTF8.self)
    }
}
