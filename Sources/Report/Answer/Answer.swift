import Analysis
import Exports
import ProfileModel

/// What a report says first: what to look at, where the time went, and what most of it was. Text and markdown
/// show the same.
struct Answer {
    let profile: Profile
    let selection: Selection
    let weight: Weight?
    /// Most at stake first.
    let findings: [Finding]

    init(_ profile: Profile, selection: Selection = .all, weight: Weight? = nil) {
        self.profile = profile
        self.selection = selection
        self.weight = weight
        findings = profile.findings().filter { finding in
            profile.includes(
                selection, from: finding.range.lowerBound, to: finding.range.upperBound,
                thread: finding.thread)
        }
    }

    /// The whole of the shares: the launch, or the chosen interval.
    var whole: TimeSpan { selection.windows?.length ?? profile.launch.wall }

    /// "59 %"; nil: the launch has no length.
    func share(of time: TimeSpan) -> String? {
        whole > .zero ? Numbers.percent(time, of: whole) : nil
    }

    // MARK: Findings

    /// A finding in three parts.
    struct Point {
        /// How much and what.
        var what: String
        /// Where: the phase, and the functions, innermost first; empty: not known.
        var place: String
        /// More about it, a sentence each.
        var details: [String]
        /// The advice; nil: none fits every case.
        var advice: String?
    }

    private static let functionWidth = 32

    func point(_ finding: Finding) -> Point {
        let words = FindingWords(
            profile: profile, finding: finding, functionWidth: Self.functionWidth)
        let share = share(of: finding.saving).map { " (\($0))" } ?? ""
        let phase = profile.phase(of: finding).map { profile.phases[$0].name }
        return Point(
            what: "\(Numbers.time(finding.saving))\(share): \(words.title)",
            place: [phase, words.place].compactMap { $0 }.filter { !$0.isEmpty }
                .joined(separator: " · "),
            details: words.details,
            advice: words.advice)
    }

    /// "2 more, together 12.0 ms"; nil: all are shown.
    func rest(after shown: Int) -> String? {
        let rest = findings.dropFirst(shown)
        guard !rest.isEmpty else { return nil }
        return "\(rest.count) more, together "
            + Numbers.time(rest.reduce(.zero) { $0 + $1.saving })
    }

    /// The first lines, to be read before any figure: the part that is nearly all of the launch,
    /// and the reasons to doubt the figures.
    func preface(_ header: HeaderSection, _ path: AnswerPath?) -> [String] {
        [lead(path), unnamed].compactMap { $0 } + header.essentials
    }

    /// "git's functions have no names: it computed 47.0 ms itself, 96.0 ms in fstatat, …"; nil: they have.
    private var unnamed: String? {
        guard selection == .all, let program = profile.unnamedProgram else { return nil }
        let shown = program.calls.prefix(Self.mostCalls)
        let rest = program.calls.dropFirst(Self.mostCalls).reduce(TimeSpan.zero) { $0 + $1.time }
        let parts =
            ["\(Numbers.time(program.own)) itself"]
            + shown.map {
                "\(Numbers.time($0.time)) in \($0.name.shortenedFunction(to: Self.callWidth))"
            } + (rest > .zero ? ["\(Numbers.time(rest)) in others"] : [])
        let name = Module(path: profile.modules[program.module].path).name
        return "\(name)'s functions have no names: it computed " + parts.joined(separator: ", ")
    }

    private static let (mostCalls, callWidth) = (3, 20)

    /// One line: the child or phase that is most of the launch, else the function that most of the
    /// longest phase is in. nil: there is none, or the first finding explains a third of the
    /// launch.
    func lead(_ path: AnswerPath?) -> String? {
        let isExplained =
            findings.first.map { $0.saving.nanoseconds >= whole.nanoseconds / 3 } ?? true
        return dominance ?? (isExplained ? nil : centre(path))
    }

    private func centre(_ path: AnswerPath?) -> String? {
        selection == .all ? path?.centre(profile) : nil
    }

    /// A summary for a launch without findings: the main thread's states, and the longest phase.
    func composition(_ path: AnswerPath?) -> String {
        let main = phases.reduce(StateTimes.zero) { $0 + $1.mainThread }
        let parts = [
            (main.running, "ran", ""), (main.blocked, "waited", mostlyWaitedFor),
            (main.runnable + main.preempted, "had no core", ""),
        ].filter { $0.0 > .zero }.map { "\($0.1) for \(Numbers.time($0.0))\($0.2)" }
        let longest = dominance == nil ? phases.max { $0.wall < $1.wall } : nil
        let phase = longest.map { longest in
            longest.wall.nanoseconds * 2 >= whole.nanoseconds
                ? "; most of the launch (\(Numbers.time(longest.wall))) is \(longest.name)"
                : "; the longest phase is \(longest.name) (\(Numbers.time(longest.wall)))"
        }
        guard !parts.isEmpty else { return "no finding" }
        let centre = dominance == nil ? centre(path).map { $0 + "; " } : nil
        let language =
            main.running >= Self.leastOfScript
            ? UnnamedLanguage(module: profile.program.name, in: profile) : nil
        return (centre.map { "no finding, but " + $0 } ?? "no finding: ") + "the main thread "
            + parts.joined(separator: ", ") + (phase ?? "")
            + (language.map { ". " + $0.hint } ?? "")
    }

    /// ", mostly for tmux: server (7252)": the thread that ended a wait of half of the launch or more.
    private var mostlyWaitedFor: String {
        guard let wait = longest, let waker = wait.endedBy, let name = waker.name, !name.isEmpty,
            wait.duration.nanoseconds * 2 >= whole.nanoseconds
        else { return "" }
        return ", mostly for \(name.escapedForDisplay) (\(waker.tid))"
    }

    /// An interpreter that does little besides starting uses less CPU time than this.
    private static let leastOfScript = TimeSpan.milliseconds(100)

    // MARK: Phases

    /// The phases with a part in the selection.
    var phases: [Phase] {
        profile.phases.indices.filter { index in
            guard selection.phases?.contains(index) ?? true else { return false }
            return selection.windows == nil
                || profile.phase(index, in: selection).wall > .zero
        }.map { profile.phase($0, in: selection) }
    }

    /// A line in the table of phases: one phase, or several short ones together.
    struct PhaseLine {
        var name: String
        var wall = TimeSpan.zero
        var cpu = TimeSpan.zero
        var mainThread = StateTimes.zero

        init(_ name: String, _ phases: [Phase]) {
            self.name = name
            for phase in phases {
                wall = wall + phase.wall
                cpu = cpu + phase.cpu
                mainThread = mainThread + phase.mainThread
            }
        }
    }

    /// In the order of time. If there are more than `most` phases, neighbours share a line: first
    /// the wrappers, since a program started by scripts has several, then the shortest neighbours.
    func phaseLines(most: Int) -> [PhaseLine] {
        let phases = phases
        guard phases.count > most else { return phases.map { PhaseLine($0.name, [$0]) } }
        var groups: [[Phase]] = []
        for phase in phases {
            if phase.isWrapper, groups.last?.last?.isWrapper == true {
                groups[groups.count - 1].append(phase)
            } else {
                groups.append([phase])
            }
        }
        while groups.count > most {
            // The pair of neighbours with the shortest total time.
            let index = groups.indices.dropLast().min {
                Self.wall(groups[$0]) + Self.wall(groups[$0 + 1])
                    < Self.wall(groups[$1]) + Self.wall(groups[$1 + 1])
            }
            guard let index else { break }
            groups[index] += groups.remove(at: index + 1)
        }
        return groups.map { group in
            guard group.count > 1, let first = group.first, let last = group.last else {
                return PhaseLine(group.first?.name ?? "", group)
            }
            let name =
                group.allSatisfy(\.isWrapper)
                ? "\(group.count) wrappers" : "\(first.name) … \(last.name)"
            return PhaseLine(name, group)
        }
    }

    private static func wall(_ phases: [Phase]) -> TimeSpan {
        phases.reduce(.zero) { $0 + $1.wall }
    }

    // MARK: Sentences

    /// A sentence about the child that is nearly all of the launch, or the phase that is most of
    /// it; nil: there is none.
    var dominance: String? {
        guard selection == .all, whole > .zero else { return nil }
        if case .dominantProcess(let index)? = findings.first?.subject,
            let saving = findings.first?.saving, Self.isNearlyAll(saving, of: whole)
        {
            let process = profile.processes[index]
            return "nearly all of it is \(process.label) (\(process.pid)): "
                + "\(Numbers.time(saving)) of \(Numbers.time(whole))"
        }
        let longest = phases.max { $0.wall < $1.wall }
        guard let longest, !Self.usual.contains(longest.name),
            longest.wall.nanoseconds >= whole.nanoseconds / 2
        else { return nil }
        let part = Self.isNearlyAll(longest.wall, of: whole) ? "nearly all" : "most"
        return "\(part) of it is \(longest.name): \(Numbers.time(longest.wall)) of "
            + Numbers.time(whole)
    }

    /// Phases that are most of any launch: naming them would tell the reader nothing.
    private static let usual = [
        Phase.Names.main, Phase.Names.program, Phase.Names.attached, Phase.Names.extended,
        Phase.Names.undivided,
    ]

    private static func isNearlyAll(_ part: TimeSpan, of whole: TimeSpan) -> Bool {
        Double(part.nanoseconds) >= 0.8 * Double(whole.nanoseconds)
    }

    /// True if an attached program waited for work until the recording's end, and none came.
    private func isForWork(_ wait: WaitFigures) -> Bool {
        profile.header.isAttached && wait.end >= profile.launch.wall
            && [.poll, .socket, .signal, .terminal].contains(wait.reason.kind)
    }

    /// The main thread's longest wait; nil: it did not wait.
    private var longest: WaitFigures? {
        profile.waits(in: selection, shortest: .zero)
            .filter {
                profile.mainThread.isMain($0.thread, at: $0.start) && !isUntilReady($0)
                    && !profile.mainThread.isHandover($0) && !isForWork($0)
            }
            .max { $0.duration < $1.duration }
    }

    /// A sentence about the main thread's longest wait, and the thread that ended it; nil: that wait is short.
    var longestWait: String? {
        guard let wait = longest, let share = share(of: wait.duration),
            Double(wait.duration.nanoseconds) >= 0.05 * Double(whole.nanoseconds)
        else { return nil }
        let stack = profile.stack(of: wait)
        let place = profile.place(in: stack).flatMap { frame -> String? in
            let function = profile.frames.function(of: frame)
            guard !function.isUnnamed else { return nil }
            let line = profile.frames[frame].place
            return " in \(function.name.shortenedFunction(to: Self.functionWidth))"
                + (line.isEmpty ? "" : " (\(line))")
        }
        let ending =
            switch wait.endedByWords {
            case "–": ""
            case _ where wait.end >= profile.launch.wall:
                profile.header.outcome == .running
                    ? ", not over when the recording ended" : ", until the program ended"
            case "unknown": ", ended by whom is not known"
            case let waker: ", ended by \(waker)"
            }
        let waiter = profile.processes.count > 1 ? "\(profile.program.name)'s longest" : "longest"
        return "\(waiter) wait: \(Numbers.time(wait.duration)) (\(share))\(place ?? ""), "
            + wait.reason.words.withoutAddress + ending
    }

    /// True if the wait lasted until the program was ready. It then waits for work, which is not
    /// part of the launch.
    private func isUntilReady(_ wait: WaitFigures) -> Bool {
        profile.ready.map { wait.end >= $0.time } ?? false
    }
}

extension Phase {
    fileprivate var isWrapper: Bool { name.hasPrefix("Wrapper: ") }
}
