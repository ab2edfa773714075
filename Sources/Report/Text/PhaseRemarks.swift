import Analysis
import Exports
import ProfileModel

/// What the figures of the phases mean, in sentences.
struct PhaseRemarks {
    let profile: Profile
    let phases: [Phase]

    var lines: [String] {
        phases.filter { isWorthWords($0.wall) }.flatMap { [waiting($0), noCore($0)] }
            .compactMap { $0?.escapedForDisplay }
            + [division, laterImports, coldLaunch].compactMap { $0 }
    }

    /// True for at least 1 % of the launch: a shorter wait explains nothing.
    private func isWorthWords(_ time: TimeSpan) -> Bool {
        share(time, of: profile.launch.wall) >= 0.01
    }

    /// A phase whose main thread waits most of the time, while little is computed.
    private func waiting(_ phase: Phase) -> String? {
        let blocked = phase.mainThread.blocked
        guard share(blocked, of: phase.wall) >= 0.5, share(phase.cpu, of: phase.wall) < 0.5 else {
            return nil
        }
        return "\(phase.name) is waiting: its main thread was blocked for \(Numbers.time(blocked)) "
            + "of \(Numbers.time(phase.wall)) (\(Numbers.percent(blocked, of: phase.wall)))."
    }

    /// A phase whose main thread wanted to run and could not. The profiler's own stops count as
    /// preemption, so they are named if they may explain a part of it.
    private func noCore(_ phase: Phase) -> String? {
        let lacked = Weight.runnable.of(phase.mainThread)
        guard share(lacked, of: phase.wall) >= 0.1, isWorthWords(lacked) else { return nil }
        let held = min(profile.header.heldByProfiler, phase.mainThread.preempted)
        let stops =
            share(held, of: lacked) >= 0.1
            ? ", up to \(Numbers.time(held)) of it for the profiler's own stops" : ""
        return "\(phase.name): its main thread had no core for \(Numbers.time(lacked)) "
            + "(\(Numbers.percent(lacked, of: phase.wall)))\(stops)."
    }

    /// A sentence about parts that only stacks can distinguish, and the precision of their borders.
    private var division: String? {
        let parts = phases.filter { $0.whole != nil }
        guard let whole = parts.first?.whole,
            let least = parts.map(\.startPrecision).max(), least > .zero
        else { return nil }
        let wall = profile.wholePhases.reduce(TimeSpan.zero) {
            $1.name == whole ? $0 + $1.wall : $0
        }
        return
            "\(parts.map(\.name).joined(separator: ", ")) \(parts.count == 1 ? "is a part" : "are parts") of "
            + "\(whole) (\(Numbers.time(wall))), told apart by stacks: their borders may be off by "
            + "\(Numbers.time(least))."
    }

    /// Imports made by functions: *Imports* has only those before the program.
    private var laterImports: String? {
        let name = Phase.Names.program
        guard let program = phases.first(where: { $0.whole != nil && $0.name == name }),
            let index = profile.phases.firstIndex(of: program)
        else { return nil }
        let tree = profile.imports(
            Selection(phases: [index], isOfMainThread: true), weight: .wall
        ).tree
        let wall = tree.roots.reduce(TimeSpan.zero) { $0 + tree.nodes[$1].total.wall }
        guard isWorthWords(wall) else { return nil }
        return "\(name) also imports modules: for \(Numbers.time(wall)) "
            + "(\(Numbers.percent(wall, of: program.wall)))."
    }

    /// The phases in which the program waited for storage. Such counts exist only for whole phases.
    private var coldLaunch: String? {
        let cold = profile.wholePhases.filter { $0.isCold && isShown($0) }
        guard !cold.isEmpty else { return nil }
        let places = cold.map { phase in
            "\(phase.name) \(Numbers.grouped(phase.counters.majorFaults ?? 0)), "
                + "\(Numbers.bytes(phase.counters.readBytes ?? 0)) read"
        }
        return "Major faults, because not all files were in memory (a cold launch): "
            + places.joined(separator: "; ").escapedForDisplay + "."
    }

    /// True if all parts of it are shown.
    private func isShown(_ whole: Phase) -> Bool {
        let parts = phases.filter {
            $0.wholeName == whole.name && $0.start >= whole.start && $0.end <= whole.end
        }
        return parts.reduce(TimeSpan.zero) { $0 + $1.wall } == whole.wall
    }

    private func share(_ part: TimeSpan, of whole: TimeSpan) -> Double {
        guard whole > .zero else { return 0 }
        return Double(part.nanoseconds) / Double(whole.nanoseconds)
    }
}
