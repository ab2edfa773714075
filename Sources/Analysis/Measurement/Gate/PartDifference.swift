package import ProfileModel

/// The additional time of one part of a launch in the first arm's launches against the second's,
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
    /// Whether some of these processes outlived a launch. Then the launch's end cut their time
    /// short, so they are not its cause.
    package var ranOn = false
    /// Whether it is surely longer, considering the number of parts (Holm).
    package var isLonger: Bool
}

extension PartDifference {
    /// The differences of every phase that any launch of a pair has, in the order in which the
    /// phases first appear.
    ///
    /// - Parameters:
    ///   - launches: of two arms that took turns.
    ///   - confidence: the joint confidence of all phases.
    package static func phases(
        of launches: [MeasuredLaunch], confidence: Double = 0.99
    ) -> [PartDifference] {
        let pairs = LaunchPairs.pairs(of: launches)
        return all(
            MeasuredLaunch.phaseNames(of: pairs.flatMap { [$0.1, $0.0] }),
            pairs.map { ($0.0.phaseWalls, $0.1.phaseWalls) }, confidence)
    }

    /// The differences of processes' wall times by name, the longest first. A pair counts only if
    /// the processes of both launches are known.
    ///
    /// - Parameters: as for ``phases(of:confidence:)``.
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
    /// The part that a regression comes from: the one that grew most, among those that surely grew.
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
