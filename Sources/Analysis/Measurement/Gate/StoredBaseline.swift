package import ProfileModel

/// The use of a stored measurement for a comparison with another program. Stored figures never
/// decide: between two measurements a machine changes by more than a regression that matters. If
/// the stored program can be launched again, the programs take turns.
package enum StoredBaseline: Hashable, Sendable {
    /// With this command its program can be launched in turns with the other.
    case turns([String])
    /// Its figures can only advise.
    case advice(Reason)

    /// Why its program cannot be launched.
    package enum Reason: String, Sendable, CaseIterable {
        case gone
        case changed
        /// It is the very file to be measured.
        case same
    }

    /// The file of the stored program.
    package struct ProgramFile: Hashable, Sendable {
        /// When it was last written, replaced or renamed, in nanoseconds since 1970 UTC.
        package var changed: Int64
        /// Whether it is the file of the program to be measured.
        package var isMeasured: Bool

        package init(changed: Int64, isMeasured: Bool) {
            self.changed = changed
            self.isMeasured = isMeasured
        }
    }

    /// - Parameter file: the file at the stored program's path now; nil: there is none that can be
    ///   run.
    package init(_ stored: Measurement, file: ProgramFile?) {
        guard let arm = stored.arms.first, let file else {
            self = .advice(.gone)
            return
        }
        guard !file.isMeasured else {
            self = .advice(.same)
            return
        }
        self =
            file.changed <= stored.header.date
            ? .turns([arm.path] + arm.command.dropFirst()) : .advice(.changed)
    }
}

/// A comparison of a program's launches with stored figures. It is never a regression.
package struct StoredAdvice: Hashable, Sendable {
    package var reason: StoredBaseline.Reason
    /// nil: one of them has no launch that counts.
    package var difference: UnpairedDifference?
    package var mismatches: [MeasurementMismatch]
    package var rule: ComparisonRule

    package init(
        _ reason: StoredBaseline.Reason, of measurement: Measurement, against stored: Measurement,
        rule: ComparisonRule
    ) {
        self.reason = reason
        self.rule = rule
        difference = UnpairedDifference(
            of: measurement, against: stored, confidence: rule.confidence)
        mismatches = MeasurementMismatch.all(before: stored, after: measurement)
    }

    package var outcome: GateOutcome {
        guard !mismatches.contains(where: \.isFatal), let difference else { return .inconclusive }
        switch difference.verdict(rule) {
        case .same, .faster: return .passed
        case .slower, .inconclusive: return .inconclusive
        }
    }
}
