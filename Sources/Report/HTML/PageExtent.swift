import Analysis
import Exports
import ProfileModel

/// The part of a launch that a page contains: for a long launch not every moment, but all of its
/// time.
struct PageExtent {
    /// By thread.
    let runs: Tiles<StateRun>
    /// Empty for a page without stacks.
    let stretches: StretchPicture
    /// In the order of their starts.
    let waits: [WaitFigures]
    /// In the order of their starts, the outer first.
    let imports: [ImportFigures]
    private let allWaits: Int
    private let allImports: Int

    /// True if waits are missing.
    var leavesOutWaits: Bool { waits.count < allWaits }
    /// True if imports are missing.
    var leavesOutImports: Bool { imports.count < allImports }

    /// With these limits, a page has less than 3 MB.
    private static let mostStretches = 60_000
    private static let mostRuns = 85_000
    private static let mostWaits = 10_000
    private static let mostImports = 10_000

    /// For a page with stacks.
    init(_ profile: Profile) {
        self.init(profile, profile.stretchPicture(most: Self.mostStretches))
    }

    /// For a page that shows only timelines.
    init(timelineOf profile: Profile) { self.init(profile, StretchPicture()) }

    private init(_ profile: Profile, _ stretches: StretchPicture) {
        runs = profile.tiledTimelines(most: Self.mostRuns)
        self.stretches = stretches
        waits = profile.waits.longest(Self.mostWaits)
        allWaits = profile.waits.count
        let imports = profile.importRuns()
        self.imports = imports.longest(Self.mostImports)
        allImports = imports.count
    }

    /// Notes that a reader needs before using the page.
    var notes: [String] {
        var result: [String] = []
        let width = max(runs.width, stretches.width)
        if width > .zero {
            result.append(
                "the launch is long: this page sums up what threads did in steps of "
                    + Numbers.time(width))
        }
        if stretches.scattered.contains(where: { !$0.isEmpty }) {
            result.append(
                "there are very many stacks: those that took little time are spread over a part of "
                    + "the launch, and a selected range of time has its share of them")
        }
        if stretches.charged > .zero {
            result.append(
                "this page has no room for all functions: \(Numbers.time(stretches.charged)) "
                    + "count as their callers' own time")
        }
        if leavesOutWaits {
            result.append(
                "this page has the \(Numbers.grouped(waits.count)) longest of "
                    + "\(Numbers.grouped(allWaits)) waits")
        }
        if leavesOutImports {
            result.append(
                "this page has the \(Numbers.grouped(imports.count)) longest of "
                    + "\(Numbers.grouped(allImports)) imports")
        }
        return result
    }
}

extension [WaitFigures] {
    /// Keeps their order.
    fileprivate func longest(_ most: Int) -> [WaitFigures] {
        guard count > most else { return self }
        let order = indices.sorted { (self[$1].duration, $0) < (self[$0].duration, $1) }
        return order.prefix(most).sorted().map { self[$0] }
    }
}

extension [ImportFigures] {
    /// Keeps their order. The parent of an import is no shorter than the import, so it stays, too.
    func longest(_ most: Int) -> [ImportFigures] {
        guard count > most else { return self }
        let order = indices.sorted { (self[$1].wall, $0) < (self[$0].wall, $1) }
        let kept = order.prefix(most).sorted()
        let places = Dictionary(uniqueKeysWithValues: kept.enumerated().map { ($1, $0) })
        return kept.map { position in
            var run = self[position]
            run.parent = run.parent.flatMap { places[$0] }
            return run
        }
    }
}
