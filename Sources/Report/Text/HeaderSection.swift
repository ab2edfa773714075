import Analysis
import Architecture
import Exports
import ProfileModel

/// The beginning of every view: the program, the launch's figures, and what a reader must know
/// before trusting the rest.
struct HeaderSection {
    let profile: Profile
    let options: TextOptions

    func render() -> String {
        figures.wrappedParts(to: options.columns) + command
            + notes.map { $0.wrapped(to: options.columns) }.joined()
    }

    /// All notes about the recording.
    var allNotes: String {
        notes.isEmpty
            ? "nothing is to be noted".wrapped(to: options.columns)
            : notes.map { $0.wrapped(to: options.columns) }.joined()
    }

    // MARK: Figures

    var figures: [String] { title + capture }

    /// The program, with its arguments if the line has room for them; the launch's duration; and
    /// how the launch ended, if it ended badly.
    var title: [String] { [shortCommand ?? subject] + times }

    /// The command line, if it says more than the title.
    var command: String {
        guard profile.program.arguments.count > 1, shortCommand == nil else { return "" }
        let words = profile.program.arguments.joined(separator: " ").escapedForDisplay
        return "  " + "command: \(words)".shortened(to: options.columns - 2) + "\n"
    }

    private var subject: String { profile.title.escapedForDisplay }

    /// nil: the line has no room for it, or the command line does not contain the title.
    private var shortCommand: String? {
        let words = profile.program.arguments
        guard
            let name = words.firstIndex(where: {
                $0.split(separator: "/").last ?? "" == profile.title
            })
        else { return nil }
        let command = ([subject] + words[(name + 1)...].map(\.escapedForDisplay))
            .joined(separator: " ")
        let line = ([command] + times).joined(separator: " · ")
        return line.displayWidth <= options.columns ? command : nil
    }

    private var times: [String] {
        [ready].compactMap { $0 } + [duration, "CPU " + Numbers.time(profile.launch.cpu)]
            + [ending].compactMap { $0 }
    }

    /// "exited with status 3"; nil: it ended well, or its end is unknown.
    private var ending: String? {
        switch profile.header.outcome {
        case .exited(0), .unknown: nil
        case .exited(let status): "exited with status \(status)"
        case .signalled(let signal): "killed by \(SignalNames.label(signal))"
        case .running:
            profile.header.isAttached ? nil : "still running when the recording ended"
        }
    }

    /// "ready after 812.0 ms (listen:8080)"
    private var ready: String? {
        profile.ready.map {
            "ready after \(Numbers.preciseTime($0.time)) (\($0.by.escapedForDisplay))"
        }
    }

    private var duration: String {
        let wall = Numbers.preciseTime(profile.launch.wall)
        if profile.header.isAttached { return "attached for \(wall)" }
        // The launch ended when the program was ready.
        if profile.ready != nil { return "recorded for \(wall)" }
        switch profile.header.outcome {
        case .exited, .signalled:
            let wasNeverReady = profile.notes.contains { $0.kind == .neverReady }
            return wasNeverReady ? "ended after \(wall), never ready" : "launched in \(wall)"
        case .running, .unknown: return "recorded for \(wall)"
        }
    }

    private var capture: [String] {
        let header = profile.header
        guard header.capture != .perf else {
            return ["imported from perf.data (\(header.importSource.escapedForDisplay))", stacks]
        }
        // Without tracing, events and signals may both have taken stacks.
        let method = header.capture == .untraced ? "" : header.capture.rawValue + " "
        return ["\(Numbers.frequency(header.frequency)) \(method)capture, " + stacks]
    }

    private var stacks: String {
        let launch = profile.launch
        let slices = Numbers.count(launch.slices, "slice")
        // A note says why this is unknown.
        if profile.notes.contains(where: { $0.kind == .unverifiedStacks }) { return slices }
        let truncated =
            launch.truncatedStacks == 0
            ? "none" : Numbers.percent(launch.truncatedStacks, of: launch.slices)
        return "\(slices), \(truncated) truncated"
    }

    // MARK: Notes

    /// One short sentence each, the most important notes first.
    var notes: [String] {
        let others = [
            mainThread, missedSamples(), missedTicks, truncations, lost, held, leftOut, unfollowed,
        ].compactMap { $0 }
        let first = essentials(\.text)
        return first
            + (others + profile.notes.compactMap(RecorderNotes.text)).filter { !first.contains($0) }
    }

    /// What a reader must know before trusting the figures. Empty: nothing.
    var essentials: [String] { essentials(\.brief) }

    private func essentials(_ words: (MeasurementNote) -> String) -> [String] {
        [
            cutShort, unknownWaits,
            missedSamples(least: Self.leastEssential, fewest: Self.fewestEssential), incomplete,
            unreadFunctions,
            UndividedPhases(profile).words,
        ].compactMap { $0 } + profile.measurementNotes().map(words)
            + profile.notes.filter { Self.essential.contains($0.kind) || isMuchUnseen($0) }
            .compactMap(RecorderNotes.text)
    }

    /// True if threads that were not sampled used a significant share of the CPU time.
    private func isMuchUnseen(_ note: RecorderNote) -> Bool {
        note.kind == .unseenCPU
            && Double(note.value) >= Self.leastUnseen * Double(profile.launch.cpu.nanoseconds)
    }

    private static let leastUnseen = 0.05

    /// Notes that the launch differed from a normal one, or that a part of it is missing, and notes
    /// about changes that the profiler left in the program.
    private static let essential: Set<RecorderNote.Kind> = [
        .narrowProgram, .deniedPrivileges, .unrecordedPrivileges, .damagedInput, .leftBehind,
        .unmapped, .unwritable, .lateEntry,
        .lateExec,
    ]

    private var incomplete: String? {
        let launch = profile.launch
        guard launch.truncatedStacks > 0, !isNarrow,
            Double(launch.truncatedStacks) >= Self.leastEssential * Double(launch.slices)
        else { return nil }
        return "\(Numbers.percent(launch.truncatedStacks, of: launch.slices)) of the stacks are "
            + "truncated: their callers are missing"
    }

    /// A warning if many stacks lack an interpreter's innermost functions: then the time of a named
    /// function may belong to a function that it called.
    private var unreadFunctions: String? {
        let unread = profile.notes.reduce(0) { sum, note in
            [.unreadFrames, .partlyReadFrames].contains(note.kind) ? sum + Int(note.value) : sum
        }
        let slices = profile.launch.slices
        guard unread > 0, Double(unread) >= Self.leastEssential * Double(slices) else { return nil }
        return
            "\(Numbers.percent(min(unread, slices), of: slices)) of the stacks lack Python's newest "
            + "functions, which returned too soon: where a function is named, one that it called may "
            + "compute; --capture ptrace reads them"
    }

    /// Whether a 32-bit program ran. Its note says why stacks are truncated.
    private var isNarrow: Bool { profile.notes.contains { $0.kind == .narrowProgram } }

    /// If a larger share of samples or stacks is affected, the note is essential.
    private static let leastEssential = 0.2
    /// Of a short launch with a handful of samples, one more would tell nothing.
    private static let fewestEssential: Int64 = 5

    /// A warning that the recording has no end; nil: it has one, or perf made it, which records no
    /// end.
    var cutShort: String? {
        profile.header.outcome == .unknown && profile.header.capture != .perf
            ? "recording cut short: it shows only what was seen until then" : nil
    }

    /// Only if the main thread is not the first thread.
    private var mainThread: String? {
        profile.mainThread.successor.map { successor in
            "main thread: \(profile.threads[successor.thread].label.escapedForDisplay), because "
                + "the first thread only waits for it (from "
                + "\(Numbers.time(successor.range.lowerBound)) on)"
        }
    }

    /// Below 1 %, the share in the first line is enough.
    private var truncations: String? {
        let launch = profile.launch
        guard launch.truncatedStacks > 0, launch.truncatedStacks * 100 >= launch.slices else {
            return nil
        }
        let reasons = launch.truncations
            .sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
            .map { "\(Numbers.grouped($0.value)) \($0.key.label)" }
        return Numbers.count(launch.truncatedStacks, "stack") + " truncated: "
            + reasons.joined(separator: ", ") + moreStack + moreRules
    }

    /// The modules whose code has no unwind tables, so that stacks end there.
    private var moreRules: String {
        // Generated code has no file.
        let paths = profile.launch.unruledModules.map { profile.modules[$0.rawValue].path }
        let names = paths.filter { $0.hasPrefix("/") && !$0.hasPrefix("//") }.prefix(3).map {
            String($0.split(separator: "/").last ?? "").escapedForDisplay
        }
        return names.isEmpty || isNarrow
            ? ""
            : " (no unwind tables in \(names.joined(separator: ", ")))"
    }

    /// How to get longer copies of stacks, if that would help.
    private var moreStack: String {
        guard profile.launch.truncations[.stackLimit] ?? 0 > 0 else { return "" }
        if profile.hasSplitStacks { return " (-fsplit-stack: they go on elsewhere)" }
        guard profile.header.capture == .perf else { return "" }
        return " (perf record --call-graph dwarf,65528 copies the most)"
    }

    private var lost: String? {
        let count = profile.header.lostSamples
        guard count > 0 else { return nil }
        return Numbers.count(count, "stack")
            + " lost, because the recorder could not keep up: times are exact"
    }

    /// If many stacks are missing, they tell little about short work.
    ///
    /// - Parameters:
    ///   - least: nil for a smaller share.
    ///   - fewest: nil for fewer.
    private func missedSamples(least: Double = 0.01, fewest: Int64 = 1) -> String? {
        let (missed, taken) = (profile.header.missedSamples, profile.header.samples)
        guard missed >= fewest, let share = Self.share(missed, taken, least: least) else {
            return nil
        }
        let isExact = !profile.notes.contains {
            [.lostSwitches, .unseenCPU, .unfollowedThreads].contains($0.kind)
        }
        return
            "\(share) of the samples were missed: stacks are coarser"
            + (isExact ? "; the times of phases and threads are exact" : "")
    }

    /// Waits are looked at by the recorder, which needs a core for that.
    private var missedTicks: String? {
        Self.share(profile.header.missedTicks, profile.header.ticks, least: 0.01).map {
            "\($0) of the looks at waits were missed: short waits may have no stack"
        }
    }

    /// - Parameter least: nil for a smaller share.
    private static func share(_ missed: Int64, _ others: Int64, least: Double) -> String? {
        let all = others.addingReportingOverflow(missed)
        guard missed > 0, !all.overflow, Double(missed) >= least * Double(all.partialValue) else {
            return nil
        }
        return Numbers.percent(missed, of: all.partialValue)
    }

    /// perf records waiting only on request.
    private var unknownWaits: String? {
        guard profile.header.capture == .perf,
            profile.threads.allSatisfy({ $0.times.wall == $0.times.running })
        else { return nil }
        return "waits are unknown: switches were not recorded (perf record --switch-events)"
    }

    /// Children that were waited for but not recorded.
    private var unfollowed: String? {
        // The processes of a tree are never recorded by signal, so this does not apply to one of
        // them. It also does not apply if a sanitizer kept us from following children.
        guard profile.processes.count <= 1, profile.header.capture == .untraced,
            !profile.notes.contains(where: { $0.kind == .leakSanitizer })
        else { return nil }
        let waited = TimeWindows(
            profile.waits.filter { $0.reason.kind == .child }.map { $0.start..<$0.end }
        ).length
        guard waited >= Self.leastForChildren,
            waited.nanoseconds >= profile.launch.wall.nanoseconds / 20
        else { return nil }
        return "waited \(Numbers.time(waited)) for children, which --follow-children shows"
    }

    private static let leastForChildren = TimeSpan.milliseconds(5)

    /// nil if the time is so long that a measurement note reports it already.
    private var held: String? {
        let held = profile.header.heldByProfiler
        let isSaid = profile.measurementNotes().contains {
            if case .profilerOverhead = $0 { true } else { false }
        }
        guard held > .zero, !isSaid else { return nil }
        return "the profiler stopped threads for \(Numbers.time(held)) in all"
    }

    private var leftOut: String? {
        let held = profile.launch.held
        guard held > .zero else { return nil }
        return "not counted: \(Numbers.time(held)) for which the profiler stopped the program"
    }
}

extension SignalNames {
    /// "SIGSEGV (11)"; "signal 40" for those without a name.
    static func label(_ signal: Int32) -> String {
        name(of: signal).map { "\($0) (\(signal))" } ?? "signal \(signal)"
    }
}

/// A sentence about phase boundaries that the recorder did not see, so that the launch has fewer
/// phases.
struct UndividedPhases {
    private let profile: Profile

    init(_ profile: Profile) { self.profile = profile }

    /// nil: the launch is divided, or another note says why it is not.
    var words: String? {
        if profile.notes.contains(where: { $0.kind == .narrowProgram }) { return nil }
        let missing: String
        if has(Phase.Names.undivided) {
            missing =
                has(Phase.Names.linking)
                ? "where main began" : "where dynamic linking ended and main began"
        } else if has(Phase.Names.beforeMain) {
            missing = "where dynamic linking ended"
        } else {
            return nil
        }
        return "\(missing) was not seen (\(reason)): that time is not divided"
    }

    private func has(_ name: String) -> Bool {
        profile.phases.contains { $0.wholeName == name }
    }

    private var reason: String {
        if profile.header.capture == .perf { return "perf does not record it" }
        if profile.notes.contains(where: { $0.kind == .lateExec }) {
            return "it was executed unnoticed"
        }
        return profile.notes.contains { Self.obstacles.contains($0.kind) }
            ? "our code was not in the program" : "the program's linker or start code does not tell"
    }

    /// Notes whose cause kept the recorder's code out of the program.
    private static let obstacles: Set<RecorderNote.Kind> = [
        .filtered, .ownHandler, .occupied, .noRoom, .limited, .unmapped, .unwritable, .lateEntry,
        .shadowStack, .otherClock,
    ]
}
