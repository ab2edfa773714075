package import ProfileModel

/// How much longer one part of a launch takes in the first arm's launches than in the second's,
/// pair by pair. A part is a phase, or all processes of one name.
package struct PartDifference: Hashable, Sendable {
    package var name: String
    package var pairs: Int
    /// In nanoseconds: Hodges and Lehmann's estimate, and the bounds of signed ranks. A part that a
    /// launch does not have took no time. So the differences of all phases of a pair add up to the
    /// launches' difference.
    package var difference: Double
    package var low: Double
    package var high: Double
    /// The confidence of each bound by itself. All phases' bounds hold together with 99 %
    /// (Bonferroni), and so do those of all processes.
    package var confidence: Double
    /// Whether some of these processes went on when a launch was over. They lasted as long as the
    /// launch let them, so they are nobody's cause.
    package var ranOn = false
    /// Whether it is surely longer, among so many parts that were looked at (Holm).
    package var isLonger: Bool
}

extension PartDifference {
    /// The differences of every phase that any launch of a pair has, in the order in which the
    /// phases first appear.
    ///
    /// - Parameters:
    ///   - launches: of two arms that took turns.
    ///   - confidence: the confidence of all that is said of phases together.
    package static func phases(
        of launches: [MeasuredLaunch], confidence: Double = 0.99
    ) -> [PartDifference] {
        let pairs = LaunchPairs.pairs(of: launches)
        return all(
            MeasuredLaunch.phaseNames(of: pairs.flatMap { [$0.1, $0.0] }),
            pairs.map { ($0.0.phaseWalls, $0.1.phaseWalls) }, confidence)
    }

    /// The differences of processes' wall times by name, those that took most first. Only pairs
    /// count of which both launches know their processes.
    ///
    /// - Parameters: as of ``phases(of:confidence:)``.
    package static func processes(
        of launches: [MeasuredLaunch], confidence: Double = 0.99
    ) -> [PartDifference] {
        let pairs = LaunchPairs.pairs(of: launches).filter {
            $0.0.processes != nil && $0.1.processes != nil
        }
        let launches = pairs.flatMap { [$0.0, $0.1] }
        let ranOn = Set(
            launches.flatMap { $0.processes ?? [] }.filter { $0.running > 0 }.map(\.name))
        return all(
            StartedProcesses.names(of: launches),
            pairs.map { ($0.0.processWalls, $0.1.processWalls) }, confidence
        ).map { part in
            var part = part
            part.ranOn = ranOn.contains(part.name)
            return part
        }
    }

    /// - Parameter pairs: in nanoseconds, by name.
    private static func all(
        _ names: [String], _ pairs: [([String: Double], [String: Double])], _ confidence: Double
    ) -> [PartDifference] {
        let differences = names.map { name in pairs.map { ($0.0[name] ?? 0) - ($0.1[name] ?? 0) } }
        let chance = (1 - confidence) / Double(max(1, names.count))
        let longer = Holm.rejected(
            differences.map { SignedRanks.chance(notAbove: 0, $0) }, chance: 1 - confidence)
        return zip(zip(names, differences), longer).compactMap { part, isLonger in
            LocationEstimate(part.1, confidence: 1 - chance).map {
                PartDifference(
                    name: part.0, pairs: part.1.count, difference: $0.value, low: $0.low,
                    high: $0.high, confidence: $0.confidence, isLonger: isLonger)
            }
        }
    }
}

extension [PartDifference] {
    /// Where a regression comes from: the part that grew most, of those that surely did.
    package var culprit: PartDifference? {
        filter { $0.isLonger && !$0.ranOn && $0.difference > 0 }.max {
            $0.difference < $1.difference
        }
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
