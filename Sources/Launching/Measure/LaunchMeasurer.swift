import Agent
import CSystem
import Glibc
package import ProcessIO
package import ProfileModel
package import Readiness
import System

/// Launches a program again and again, without stacks. Our code in the program notes the launch's
/// borders; nothing else is watched. Only the thread that made it may use it.
package final class LaunchMeasurer {
    private let path: CommandWord
    private let arguments: [CommandWord]
    private let signals: SignalQueue
    /// Where a static program makes its system calls. Its file is read only once: a launch may have
    /// to find the file on the disk, so nothing may touch it just before.
    private let sites: PreparedSites?
    private let entryCodes = EntryCodes()
    private var machine = MachineMeter()
    /// True if any launch of this program, or of a program measured in turn with it, has started
    /// processes: then later launches are watched for processes. The first launch always is. Other
    /// launches are not, because starting a thread takes longer in a watched program.
    package var startsProcesses = false
    private var hasLaunched = false

    /// How often we look at the program if no signal reports anything.
    package var lookInterval = TimeSpan.milliseconds(100)

    /// Finds the program, and does the work that would otherwise be done while a program is
    /// stopped.
    ///
    /// - Parameters:
    ///   - arguments: the program's name or path, and its arguments.
    ///   - signals: made for launching, before the process had any other thread.
    package init(_ arguments: [CommandWord], signals: SignalQueue) throws(SamplerError) {
        do throws(DescriptorReserve.Shortage) {
            try DescriptorReserve.require()
        } catch {
            throw SamplerError(error)
        }
        guard let name = arguments.first else { throw .programNotFound("") }
        path = try ProgramLookup.resolve(name)
        self.arguments = arguments
        self.signals = signals
        sites = PreparedSites(path: path.cString)
        _ = Self.prepareOurselves
    }

    /// Where the program was found.
    package var programPath: String { path.text }

    deinit { _ = fl_adopt_orphans(0) }

    private static let prepareOurselves: Void = {
        fl_keep_memory()
        _ = ThreadStatus.ownFilters
        CallSites.prepare()
        ImageStart.prepare()
    }()

    /// Launches the program once, and returns when the launch is over.
    package func launch(_ options: LaunchOptions) throws(SamplerError) -> FinishedLaunch {
        try Self.checkSupport(for: options.until)
        let ready = try Self.watch(options)
        defer { ready.end() }
        var ticker: Ticker?
        if ready.needsLooks || ready.watchesSignposts {
            ticker = try Self.makeTicker(isDated: !ready.needsLooks)
        }
        let area = Self.makeArea()
        machine.begin(MachineMeter.Reading.now(besides: nil))
        let held = try HeldProcess(
            path: path, arguments: arguments, signals: signals, setting: ready.setting,
            child: options.child, area: area, sites: sites, by: .shared)
        if let listener = held.opensListener {
            if let take = options.takeListener { take(listener) } else { close(listener) }
        }
        let pid = held.pid
        ready.began(pid)
        let costs = startsProcesses || !hasLaunched ? try? TreeCosts(of: pid) : nil
        options.prepare?(pid)
        let (image, before) = try held.begin(
            KernelThread(process: pid, tid: pid), watchesSignposts: ready.watchesSignposts,
            entryCodes)
        let follower = LaunchFollower(
            pid, image, ready, signals, lookEvery: lookInterval, entryCodes, costs)
        ticker?.start()
        let ending = follower.follow(until: options.watchdog.map { before.time + $0 })
        ticker = nil
        let account = LaunchAccount(
            pid: pid, before: before, images: follower.images, ending: ending)
        var observed = account.observed(
            Image(path: path.text, arguments: arguments.map(\.text), time: before.time))
        observed.awaitsReady = !options.until.isEmpty && !options.until.contains(.exit)
        observed.isInterrupted = observed.isInterrupted || follower.wasStopped
        observed.frequency = CoreFrequency.mean
        observed.processes = costs.flatMap { account.processes($0, called: path.text) }
        hasLaunched = true
        if observed.processes?.isEmpty == false { startsProcesses = true }
        if ending.end != nil {
            var status: Int32 = 0
            _ = fl_wait(pid, 0, &status)
        }
        let program = ending.end == nil ? pid : nil
        let end = MachineMeter.Reading.now(besides: program)
        let others = machine.end(end, after: ending.time - before.time)
        (observed.otherWork, observed.stolen) = (others?.work, others?.stolen)
        var finished = FinishedLaunch(observed: observed)
        finished.endSignal = ending.signal
        finished.program = program
        return finished
    }

    /// Our relays must not count as the program's orphans: we adopt orphans only after the relays
    /// exist.
    private static func watch(_ options: LaunchOptions) throws(SamplerError) -> ReadyWatch {
        _ = fl_adopt_orphans(0)
        defer { _ = fl_adopt_orphans(1) }
        return try ReadyWatch(
            launching: options.until,
            setting: ProgramSetting(output: options.output, error: options.error))
    }

    /// nil: our limits leave no room for it.
    private static func makeArea() -> AgentMemory? {
        guard AgentMemory.fits(KernelProcess.ourselves, stackBytes: MeasuredEntry.stackBytes) else {
            return nil
        }
        let area = AgentMemory(stackBytes: MeasuredEntry.stackBytes)
        area?.prepare()
        return area
    }

    /// A mark needs changes to the program's code that only recordings make.
    private static func checkSupport(for conditions: [ReadyCondition]) throws(SamplerError) {
        for case .mark(let name) in conditions {
            throw .cannotWatch(
                "mark:\(name)",
                reason: "marks are put into recorded programs only; let the program say a signpost")
        }
    }

    /// - Parameter isDated: true if the conditions themselves tell when they were met. Otherwise we
    ///   look as often as when recording.
    private static func makeTicker(isDated: Bool) throws(SamplerError) -> Ticker {
        do throws(SystemError) {
            return try Ticker(frequency: isDated ? 250 : 1000)
        } catch {
            throw .systemCall(error)
        }
    }
}

/// The cores' clock frequency.
package enum CoreFrequency {
    private static let files: [String] = (0..<mostCores)
        .map { "/sys/devices/system/cpu/cpu\($0)/cpufreq/scaling_cur_freq" }
        .filter { access($0, R_OK) == 0 }

    /// On a larger machine this many cores are enough.
    private static let mostCores = 64

    /// In kHz; nil: the kernel does not report it, as in most virtual machines.
    package static var mean: Int64? {
        var sum: Int64 = 0
        var count: Int64 = 0
        var buffer = ReadBuffer(capacity: 64)
        for file in files {
            buffer.read(path: file)
            var text = buffer.text
            guard let value = text.decimal(), value > 0, value < 1 << 40 else { continue }
            sum += value
            count += 1
        }
        return count == 0 ? nil : sum / count
    }
}

/// How to launch a program that is measured.
package struct LaunchOptions: Sendable {
    /// The conditions that end the launch; the first one met counts. Empty: the program's end.
    package var until: [ReadyCondition]
    /// A launch that is not over after this time hangs; nil: there is no limit.
    package var watchdog: TimeSpan?
    /// Descriptors for its standard output and error; nil: ours. The caller keeps owning them.
    package var output: Int32?
    package var error: Int32?
    /// The surroundings in which it runs.
    package var child = ChildSetting()
    /// Receives the descriptor that reports the files which the program opens, if ``child`` asks
    /// for that (``ChildSetting/tellsOpens``). The receiver must serve it at once, and close it.
    package var takeListener: (@Sendable (Int32) -> Void)?
    /// Called with the id of the process, which then waits to become the program.
    package var prepare: (@Sendable (Int32) -> Void)?

    package init(until: [ReadyCondition] = [], watchdog: TimeSpan? = nil) {
        self.until = until
        self.watchdog = watchdog
    }
}

/// A launch that is over.
package struct FinishedLaunch: Sendable {
    package var observed: ObservedLaunch
    /// The process, if it goes on; nil: it has ended. The caller must end it and wait for it, and
    /// for all processes that it has left behind, which become the caller's children.
    package var program: Int32?
    /// The signal that ended the measurement; nil: no signal did.
    package var endSignal: Int32?
}
