package import ProcessIO
package import ProfileModel

/// Finds out when a launch is over: as soon as one of several conditions is met.
package final class ReadyWatch {
    private var sources: [(condition: ReadyCondition, source: any ReadySource)] = []
    /// A condition that others reported as met.
    private var told: Readiness?
    private let conditions: [ReadyCondition]
    /// The relays of the program's output, in order, where it is watched.
    package private(set) var relays: [OutputRelay] = []
    /// The relay to the program's Wayland compositor, where it is watched.
    private var wayland: WaylandRelay?
    /// Whether a launch is over before the program's end.
    package var awaitsReadiness: Bool { !conditions.isEmpty && !conditions.contains(.exit) }
    /// How the program must be started for the conditions.
    package private(set) var setting: ProgramSetting

    /// The folder for sockets that the program must reach; nil: they need none.
    private var socketFolder: String?

    /// For a program that will be started. Everything that it needs must be ready before.
    ///
    /// - Parameter setting: where the program's output goes otherwise.
    package init(
        launching conditions: [ReadyCondition],
        setting: consuming ProgramSetting = ProgramSetting(),
        socketFolder: String? = nil
    ) throws(SamplerError) {
        self.conditions = conditions
        self.setting = setting
        self.socketFolder = socketFolder
        for condition in conditions { try add(condition, isLaunch: true) }
    }

    /// For a process that runs already. Conditions that do not suit such a process are left out.
    package init(attachingFor conditions: [ReadyCondition]) throws(SamplerError) {
        self.conditions = conditions
        setting = ProgramSetting()
        for condition in conditions where condition.suitsRunningProcess {
            try add(condition, isLaunch: false)
        }
    }

    private func add(_ condition: ReadyCondition, isLaunch: Bool) throws(SamplerError) {
        let source: any ReadySource
        switch condition {
        case .exit, .signpost, .mark: return
        case .notify:
            let notify = try Self.explain(condition) { () throws(SystemError) in
                try NotifySource(in: socketFolder)
            }
            setting.variables["NOTIFY_SOCKET"] = notify.name
            source = notify
        case .listen(let port): source = ListenSource(port: port, ignoresInherited: isLaunch)
        case .output(let text):
            let output = try Self.explain(condition) { () throws(SystemError) in
                try OutputSource(text: text, setting: &setting)
            }
            // The program writes to the newest relay.
            relays = output.relays + relays
            source = output
        case .window: source = try display(.window, for: condition, isLaunch: isLaunch)
        case .frame: source = try display(.frame, for: condition, isLaunch: isLaunch)
        case .idle(let span): source = IdleSource(span)
        }
        sources.append((condition, source))
    }

    private func display(
        _ wanted: DisplaySource.Wanted, for condition: ReadyCondition, isLaunch: Bool
    ) throws(SamplerError) -> DisplaySource {
        do throws(DisplayProblem) {
            let displays =
                try isLaunch
                ? Displays(launching: wanted, known: wayland, &setting)
                : Displays(attachingFor: wanted)
            wayland = displays.relay
            return try DisplaySource(wanted, displays.server, displays.relay, isLaunch: isLaunch)
        } catch {
            throw .cannotWatch(condition.description, reason: error.reason)
        }
    }

    private static func explain<Value>(
        _ condition: ReadyCondition, _ body: () throws(SystemError) -> Value
    ) throws(SamplerError) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            throw .cannotWatch(condition.description, reason: error.description)
        }
    }

    /// The process exists.
    package func began(_ pid: Int32) {
        setting.close()
        for (_, source) in sources { source.began(pid) }
    }

    /// The earliest condition met since the last look.
    package func look(at now: MonotonicTime, in launch: any LaunchView) -> Readiness? {
        earliest { $0.look(at: now, in: launch) }
    }

    /// As ``look(at:in:)``, for a followed child of the process.
    package func look(at now: MonotonicTime, inChild pid: Int32, _ child: any LaunchView) {
        guard told == nil else { return }
        for (condition, source) in sources {
            guard let time = source.look(at: now, inChild: pid, child) else { continue }
            if let told, told.time <= time { continue }
            told = Readiness(time: time, by: condition.description)
        }
    }

    package func childEnded(_ pid: Int32) { for (_, source) in sources { source.childEnded(pid) } }

    /// As ``look(at:in:)``, after the process's end.
    package func lastLook(_ signals: SignalQueue) -> Readiness? {
        earliest { $0.lastLook(signals) }
    }

    private func earliest(_ look: (any ReadySource) -> MonotonicTime?) -> Readiness? {
        var found = told
        for (condition, source) in sources {
            guard let time = look(source) else { continue }
            if let found, found.time <= time { continue }
            found = Readiness(time: time, by: condition.description)
        }
        return found
    }

    /// True if the caller must look now and then.
    package var needsLooks: Bool { sources.contains { $0.source.needsLooks } }

    /// True if the caller must report signposts.
    package var watchesSignposts: Bool {
        conditions.contains { condition in
            guard case .signpost = condition else { return false }
            return true
        }
    }

    /// No more looks will come: releases everything that the sources hold.
    package func end() { for (_, source) in sources { source.end() } }

    // MARK: Reports of the caller

    /// The program emitted a signpost.
    package func saw(signpost name: String, at time: MonotonicTime) {
        saw(.signpost(name), at: time)
    }

    /// The program passed a mark.
    package func saw(mark name: String, at time: MonotonicTime) { saw(.mark(name), at: time) }

    private func saw(_ condition: ReadyCondition, at time: MonotonicTime) {
        guard told == nil, conditions.contains(condition) else { return }
        told = Readiness(time: time, by: condition.description)
    }
}

/// `idle`: no thread of the process has had a core for a while, and none waits for the disk.
///
/// The launch was over at the start of that while, not when we became sure of it.
package final class IdleSource: ReadySource {
    private let span: TimeSpan
    private var quiet: (since: MonotonicTime, signature: UInt64)?
    private var found: MonotonicTime?

    package init(_ span: TimeSpan) { self.span = span }

    package func look(at now: MonotonicTime, in launch: any LaunchView) -> MonotonicTime? {
        guard found == nil else { return found }
        guard let signature = launch.blockedSignature else {
            quiet = nil
            return nil
        }
        guard let quiet, quiet.signature == signature else {
            self.quiet = (now, signature)
            return nil
        }
        guard now - quiet.since >= span else { return nil }
        // Checked last, because it is expensive. A thread in a page fault counts as blocked, too.
        // If its page has just arrived, the thread no longer waits for the disk, but will go on.
        if launch.waitsForDisk || launch.blockedSignature != signature {
            self.quiet = nil
            return nil
        }
        found = quiet.since
        return found
    }

    /// Identifies the set of waits that the threads are in; nil: a thread is not blocked, or there
    /// are no threads.
    package static func signature(of threads: some Sequence<(Int32, UInt32?)>) -> UInt64? {
        var sum: UInt64 = 0
        var isEmpty = true
        for (tid, serial) in threads {
            guard let serial else { return nil }
            // splitmix64's finish (Steele, Lea, Flood 2014), for sums that do not collide.
            var word = UInt64(UInt32(bitPattern: tid)) << 32 | UInt64(serial)
            word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
            word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
            sum &+= word ^ word >> 31
            isEmpty = false
        }
        return isEmpty ? nil : sum
    }
}

/// An event that ends a launch, as `--until` names it.
package enum ReadyCondition: Hashable, Sendable {
    /// The program's end: the launch lasts as long as the program.
    case exit
    /// `READY=1`, sent to NOTIFY_SOCKET as by sd_notify(3).
    case notify
    /// A stream socket on which the process accepts connections: at this TCP port, or any of TCP or
    /// the Unix domain.
    case listen(port: UInt16?)
    /// The first byte, or the first line with the text, on standard output or error.
    case output(text: String?)
    /// The first top-level window: on X11 it is mapped, on Wayland configured.
    case window
    /// The first picture in a top-level window. On X11 something is drawn into the window; on
    /// Wayland it is committed with a buffer.
    case frame
    /// No thread has had anything to do for this long.
    case idle(TimeSpan)
    /// A signpost (an event, or an interval's end) of this name.
    case signpost(String)
    /// A mark (`--mark NAME=…`) of this name.
    case mark(String)

    /// True if the condition can be watched in a process that runs already. It is too late if the
    /// condition needs another environment or other descriptors. (So it is for `window` and `frame`
    /// on Wayland, but not on X11.)
    package var suitsRunningProcess: Bool {
        switch self {
        case .notify, .output: false
        case .exit, .listen, .window, .frame, .idle, .signpost, .mark: true
        }
    }
}

extension ReadyCondition: CustomStringConvertible {
    /// In the words of `--until`.
    package var description: String {
        switch self {
        case .exit: "exit"
        case .notify: "notify"
        case .listen(let port): "listen" + (port.map { ":\($0)" } ?? "")
        case .output(let text): "output" + (text.map { ":\($0)" } ?? "")
        case .window: "window"
        case .frame: "frame"
        case .idle(let span): "idle:" + Self.words(span)
        case .signpost(let name): "signpost:\(name)"
        case .mark(let name): "mark:\(name)"
        }
    }

    /// In the largest unit that leaves a whole number.
    private static func words(_ span: TimeSpan) -> String {
        let units: [(Int64, String)] = [
            (60_000_000_000, "m"), (1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"),
        ]
        let unit = units.first { span.nanoseconds.isMultiple(of: $0.0) } ?? (1, "ns")
        return "\(span.nanoseconds / unit.0)\(unit.1)"
    }
}
