import Agent
import CSystem
import Glibc
package import ProcessIO
package import ProfileModel
import Readiness
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
