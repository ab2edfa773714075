package import ProfileModel

/// Two measurements, each of its first program, held against each other. They were not taken in turns,
/// so that whatever else changed between them is in the differences, too.
package struct MeasurementComparison: Hashable, Sendable {
    package var launch: UnpairedDifference
    package var phases: [Phase]
    /// What else differs between them, gravest first.
    package var mismatches: [MeasurementMismatch]
    /// How much later the second was begun, in nanoseconds; negative: earlier.
    package var interval: Int64
    /// By what it is judged.
    package var rule: ComparisonRule

    package struct Phase: Hashable, Sendable {
        package var name: String
        /// Where a launch does not have the phase, it took no time. All phases' bounds hold together
        /// with the rule's confidence (Bonferroni).
        package var difference: UnpairedDifference
    }

    package var verdict: Comparison.Verdict { launch.verdict(rule) }
}

extension MeasurementComparison {
    /// Why two measurements are not compared.
    package enum Refusal: Error, Hashable, Sendable {
        /// Figures under such circumstances are no measure for each other.
        case mismatches([MeasurementMismatch])
        /// No launch of the one counts.
        case nothingMeasured(Side)
    }

    package enum Side: String, Sendable, CaseIterable {
        case before, after
    }

    /// - Parameter anyway: whether they are compared whatever differs beside the program.
    package init(
        before: Measurement, after: Measurement, rule: ComparisonRule = ComparisonRule(),
        anyway: Bool = false
    ) throws(Refusal) {
        mismatches = MeasurementMismatch.all(before: before, after: after)
        let fatal = mismatches.filter(\.isFatal)
        guard anyway || fatal.isEmpty else { throw .mismatches(fatal) }
        guard
            let launch = UnpairedDifference(
                of: after, against: before, confidence: rule.confidence)
        else {
            throw .nothingMeasured(before.countedLaunches.isEmpty ? .before : .after)
        }
        self.launch = launch
        self.rule = rule
        let (span, overflow) = after.header.date.subtractingReportingOverflow(before.header.date)
        interval = overflow ? .max : span
        phases = Self.phases(before.countedLaunches, after.countedLaunches, rule.confidence)
    }

    private static func phases(
        _ before: [MeasuredLaunch], _ after: [MeasuredLaunch], _ confidence: Double
    ) -> [Phase] {
        let names = MeasuredLaunch.phaseNames(of: before + after)
        let chance = (1 - confidence) / Double(max(1, names.count))
        let (old, new) = (before.map(\.phaseWalls), after.map(\.phaseWalls))
        return names.compactMap { name in
            UnpairedDifference(
                new.map { $0[name] ?? 0 }, against: old.map { $0[name] ?? 0 },
                confidence: 1 - chance
            ).map { Phase(name: name, difference: $0) }
        }
    }
}
