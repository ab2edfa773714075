package import ProfileModel

/// The launches of a store that are to be compared.
package struct VersionRequest: Hashable, Sendable {
    package var program: String
    package var before: String
    package var after: String
    package var machines: LaunchHistory.Machines

    package init(
        program: String, before: String, after: String, machines: LaunchHistory.Machines
    ) {
        (self.program, self.before, self.after) = (program, before, after)
        self.machines = machines
    }
}

/// All sessions of a version whose launches can be compared with each other.
package struct VersionSessions: Hashable, Sendable {
    /// The last one, without its launches: program, conditions, machine, version.
    package var circumstances: Measurement
    package var sessions: Int
    package var machines: Int
    /// The number of launches that count.
    package var launches: Int
    /// When the first session began, in nanoseconds since 1970 UTC.
    package var firstDate: Int64

    package init(
        _ circumstances: Measurement, sessions: Int, machines: Int, launches: Int,
        firstDate: Int64
    ) {
        self.circumstances = circumstances
        (self.sessions, self.machines) = (sessions, machines)
        (self.launches, self.firstDate) = (launches, firstDate)
    }
}

/// Sessions of two versions that can be compared.
package struct VersionPair: Hashable, Sendable {
    /// The store's number of the series.
    package var series: UInt64
    package var before: VersionSessions
    package var after: VersionSessions

    package var launches: Int { before.launches + after.launches }

    /// Empty with several machines on a side: no single one can be compared with the other side.
    package var mismatches: [MeasurementMismatch] {
        guard before.machines == 1, after.machines == 1 else { return [] }
        return MeasurementMismatch.all(
            before: before.circumstances, after: after.circumstances)
    }
}

/// Two versions on machines, and under conditions, that can be compared.
package struct VersionComparison: Hashable, Sendable {
    package var pair: VersionPair
    package var figures: MeasurementComparison

    package init(_ pair: VersionPair, _ figures: MeasurementComparison) {
        (self.pair, self.figures) = (pair, figures)
    }

    /// Whether the bounds are from evenly spaced launches instead of all.
    package var isThinned: Bool {
        ([figures.launch] + figures.phases.map(\.difference)).contains { found in
            found.counts.contains { $0 > ThinnedValues.most }
        }
    }
}
