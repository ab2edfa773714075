package import ProfileModel

/// How much longer one phase takes in the first arm's launches than in the second's, pair by pair.
package struct PhaseDifference: Hashable, Sendable {
    package var name: String
    package var pairs: Int
    /// In nanoseconds: Hodges and Lehmann's estimate, and the bounds of signed ranks. Where a launch
    /// does not have the phase, it took no time: so all phases' differences of a pair add up to the
    /// launches' difference.
    package var difference: Double
    package var low: Double
    package var high: Double
    /// Of each bound by itself; all phases' bounds hold together with 99 % (Bonferroni).
    package var confidence: Double
    /// Whether it is surely longer, among so many phases that were looked at (Holm).
    package var isLonger: Bool
}

extension PhaseDifference {
    /// Of every phase that any launch of a pair has, in the order in which they first appear.
    ///
    /// - Parameters:
    ///   - launches: of two arms that took turns.
    ///   - confidence: of all that is said of phases together.
    package static func all(
        of launches: [MeasuredLaunch], confidence: Double = 0.99
    ) -> [PhaseDifference] {
        let found = PhasePairs(launches)
        let chance = (1 - confidence) / Double(max(1, found.names.count))
        let longer = Holm.rejected(
            found.names.map { SignedRanks.chance(notAbove: 0, found.differences(of: $0)) },
            chance: 1 - confidence)
        return zip(found.names, longer).compactMap { name, isLonger in
            let differences = found.differences(of: name)
            return LocationEstimate(differences, confidence: 1 - chance).map {
                PhaseDifference(
                    name: name, pairs: differences.count, difference: $0.value, low: $0.low,
                    high: $0.high, confidence: $0.confidence, isLonger: isLonger)
            }
        }
    }
}

extension [PhaseDifference] {
    /// Where a regression comes from: the phase that grew most, of those that surely did.
    package var culprit: PhaseDifference? {
        filter { $0.isLonger && $0.difference > 0 }.max { $0.difference < $1.difference }
    }
}

/// The phases of launches in pairs.
private struct PhasePairs {
    let names: [String]
    private let pairs: [([String: Double], [String: Double])]

    init(_ launches: [MeasuredLaunch]) {
        let found = LaunchPairs.pairs(of: launches)
        pairs = found.map { ($0.0.phaseWalls, $0.1.phaseWalls) }
        names = MeasuredLaunch.phaseNames(of: found.flatMap { [$0.1, $0.0] })
    }

    /// In nanoseconds.
    func differences(of name: String) -> [Double] {
        pairs.map { ($0.0[name] ?? 0) - ($0.1[name] ?? 0) }
    }
}

extension MeasuredLaunch {
    /// By their names, in nanoseconds; parts of one name are one phase.
    var phaseWalls: [String: Double] {
        phases.reduce(into: [:]) { $0[$1.name, default: 0] += $1.wall.value }
    }

    /// In the order in which they first appear.
    static func phaseNames(of launches: [MeasuredLaunch]) -> [String] {
        var known: Set<String> = []
        return launches.flatMap(\.phases).map(\.name).filter { known.insert($0).inserted }
    }
}
