import Analysis
import Exports
import ProfileModel

/// The heaviest initialisers of one phase in the summary.
struct PhaseInitializers {
    let profile: Profile
    let options: TextOptions
    let phase: Int

    private static let most = 5
    /// The share of the phase's wall time below which an initialiser explains nothing.
    private static let leastShare = 0.02

    /// One table, or none.
    func tables() -> [String] {
        let figures = profile.phases[phase]
        var selection = options.selection
        selection.phases = [phase]
        let all = InitializerTable.heaviestFirst(profile, selection).filter {
            figures.start <= $0.start
        }
        let least = Double(figures.wall.nanoseconds) * Self.leastShare
        let heavy = all.prefix(Self.most).filter { Double($0.wall.nanoseconds) >= least }
        guard !heavy.isEmpty else { return [] }
        var table = InitializerTable(profile: profile, options: options, runs: Array(heavy))
        table.caption =
            "\(figures.name.escapedForDisplay): heaviest of "
            + Numbers.count(all.count, "initialiser") + " (timed, not sampled)"
        return [table.table().render(width: options.columns, colour: options.usesColour)]
    }
}
