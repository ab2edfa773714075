package import ProfileModel

/// Compares two measurements, each by its first program. The programs did not take turns, so the
/// differences include all other changes between the measurements.
package struct MeasurementComparison: Hashable, Sendable {
    package var launch: UnpairedDifference
    package var phases: [Part]
    /// The processes that launches start, by name, from launches whose processes are known. Empty
    /// where one side has no such launches.
    package var processes: [Part]
    /// The other differences between them, gravest first.
    package var mismatches: [MeasurementMismatch]
    /// The time from the first measurement's start to the second's, in nanoseconds; negative: the
    /// second began earlier.
    package var interval: Int64
    /// The rule for its verdict.
    package var rule: ComparisonRule

    /// A phase, or all processes of one name.
    package struct Part: Hashable, Sendable {
        package var name: String
        /// A part that a launch does not have took no time. All phases' bounds hold together with
        /// the rule's confidence (Bonferroni), and so do those of all processes.
        package var difference: UnpairedDifference

        package init(name: String, difference: UnpairedDifference) {
            (self.name, self.difference) = (name, difference)
        }
    }

    package var verdict: Comparison.Verdict { launch.verdict(rule) }
}

extension MeasurementComparison {
    /// Why two measurements are not compared.
    package enum Refusal: Error, Hashable, Sendable {
        /// Figures under such circumstances are not comparable.
        case mismatches([MeasurementMismatch])
        /// No launch of one side counts.
        case nothingMeasured(Side)
    }

    package enum Side: String, Sendable, CaseIterable {
        case before, after
    }

    /// - Parameter anyway: whether they are compared even if more than the program differs.
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
        interval = Self.interval(from: before.header.date, to: after.header.date)
        let (old, new) = (before.countedLaunches, after.countedLaunches)
        phases = Self.parts(
            MeasuredLaunch.phaseNames(of: old + new), old.map(\.phaseWalls), new.map(\.phaseWalls),
            rule.confidence)
        let (oldKnown, newKnown) = (old.knowingProcesses, new.knowingProcesses)
        processes = Self.parts(
            StartedProcesses.names(of: oldKnown + newKnown), oldKnown.map(\.processWalls),
            newKnown.map(\.processWalls), rule.confidence)
    }

    /// Makes a comparison of figures that a store has computed. These do not include the processes
    /// that launches start.
    ///
    /// - Parameter dates: when the earlier and the later measurement began, in nanoseconds since
    ///   1970 UTC.
    package init(
        launch: UnpairedDifference, phases: [Part], mismatches: [MeasurementMismatch],
        dates: (before: Int64, after: Int64), rule: ComparisonRule
    ) {
        (self.launch, self.phases, self.mismatches) = (launch, phases, mismatches)
        (processes, self.rule) = ([], rule)
        interval = Self.interval(from: dates.before, to: dates.after)
    }

    /// The confidence of one of `count` bounds that hold together with `confidence` (Bonferroni).
    package static func confidence(ofEachOf count: Int, _ confidence: Double) -> Double {
        1 - (1 - confidence) / Double(max(1, count))
    }

    private static func interval(from before: Int64, to after: Int64) -> Int64 {
        let (span, overflow) = after.subtractingReportingOverflow(before)
        return overflow ? .max : span
    }

    private static func parts(
        _ names: [String], _ before: [[String: Double]], _ after: [[String: Double]],
        _ confidence: Double
    ) -> [Part] {
        let each = Self.confidence(ofEachOf: names.count, confidence)
        return names.compactMap { name in
            UnpairedDifference(
                after.map { $0[name] ?? 0 }, against: before.map { $0[name] ?? 0 },
                confidence: each
            ).map { Part(name: name, difference: $0) }
        }
    }
}

extension [MeasuredLaunch] {
    fileprivate var knowingProcesses: [MeasuredLaunch] { filter { $0.processes != nil } }
}
