import ProfileModel

/// Finds out when a launch is over: as soon as one of several conditions is met.
final class ReadyWatch {
    private var sources: [(condition: ReadyCondition, source: any ReadySource)] = []
    /// What others told.
    private var told: Readiness?
    private let conditions: [ReadyCondition]
    /// What the program's output goes through, where it is watched, in that order.
    private(set) var relays: [OutputRelay] = []
    /// Through what it goes to its Wayland compositor, where that is watched.
    private var wayland: WaylandRelay?
    /// How the program must be started for that.
    private(set) var setting: ProgramSetting

    /// Where sockets are that the program must reach; nil: they need no place.
    private var socketFolder: String?

    /// For a program that is yet to be started: nothing of what it needs may come later.
    ///
    /// - Parameter setting: where its output goes otherwise.
    init(
        launching conditions: [ReadyCondition],
        setting: consuming ProgramSetting = ProgramSetting(),
        socketFolder: String? = nil
    ) throws(SamplerError) {
        self.conditions = conditions
        self.setting = setting
        self.socketFolder = socketFolder
        for condition in conditions { try add(condition, isLaunch: true) }
    }

    /// For a process that runs already. Conditions that do not suit it are left out.
    init(attachingFor conditions: [ReadyCondition]) throws(SamplerError) {
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
            // The program writes to the newest.
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
            return DisplaySource(wanted, displays.server, displays.relay, isLaunch: isLaunch)
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

    /// The process is there.
    func began(_ pid: Int32) {
        setting.close()
        for (_, source) in sources { source.began(pid) }
    }

    /// The earliest of what has been met since the last look.
    func look(at now: MonotonicTime, in launch: any LaunchView) -> Readiness? {
        earliest { $0.look(at: now, in: launch) }
    }

    /// The same in a child of the process's that is followed.
    func look(at now: MonotonicTime, inChild pid: Int32, _ child: any LaunchView) {
        guard told == nil else { return }
        for (condition, source) in sources {
            guard let time = source.look(at: now, inChild: pid, child) else { continue }
            if let told, told.time <= time { continue }
            told = Readiness(time: time, by: condition.description)
        }
    }

    func childEnded(_ pid: Int32) { for (_, source) in sources { source.childEnded(pid) } }

    /// The same after the process's end.
    func lastLook(_ signals: SignalQueue) -> Readiness? { earliest { $0.lastLook(signals) } }

    private func earliest(_ look: (any ReadySource) -> MonotonicTime?) -> Readiness? {
        var found = told
        for (condition, source) in sources {
            guard let time = look(source) else { continue }
            if let found, found.time <= time { continue }
            found = Readiness(time: time, by: condition.description)
        }
        return found
    }

    /// Whether somebody has to look now and then.
    var needsLooks: Bool { sources.contains { $0.source.needsLooks } }

    /// Whether somebody else has to tell of signposts.
    var watchesSignposts: Bool {
        conditions.contains { condition in
            guard case .signpost = condition else { return false }
            return true
        }
    }

    /// Nobody asks any more.
    func end() { for (_, source) in sources { source.end() } }

    // MARK: What others see

    /// The program emitted a signpost.
    func saw(signpost name: String, at time: MonotonicTime) { saw(.signpost(name), at: time) }

    /// The program passed a mark.
    func saw(mark name: String, at time: MonotonicTime) { saw(.mark(name), at: time) }

    private func saw(_ condition: ReadyCondition, at time: MonotonicTime) {
        guard told == nil, conditions.contains(condition) else { return }
        told = Readiness(time: time, by: condition.description)
    }
}
