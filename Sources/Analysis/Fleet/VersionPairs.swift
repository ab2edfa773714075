/// All launches of two versions, in series that can be compared.
package struct VersionPairs: Hashable, Sendable {
    /// The pair with the most launches first; at least one.
    package var pairs: [VersionPair]
    /// Launches of series that only one of the versions has.
    package var aloneBefore: Int
    package var aloneAfter: Int

    /// One version's sessions of one series.
    package struct Member: Hashable, Sendable {
        package var series: UInt64
        package var side: MeasurementComparison.Side
        package var sessions: VersionSessions

        package init(
            series: UInt64, side: MeasurementComparison.Side, sessions: VersionSessions
        ) {
            (self.series, self.side, self.sessions) = (series, side, sessions)
        }
    }

    /// Why there is nothing to compare.
    package enum Refusal: Error, Hashable, Sendable {
        case nothingMeasured(MeasurementComparison.Side)
        /// No series has both versions. These are the differences between the largest of each.
        case mismatches([MeasurementMismatch])
        /// The same, but it is the arguments that differ.
        case otherArguments
    }

    /// - Parameter members: in any order; series of equally many launches stay in it.
    package init(_ members: [Member]) throws(Refusal) {
        let old = members.filter { $0.side == .before }
        let new = members.filter { $0.side == .after }
        guard let largestOld = Self.largest(old) else { throw .nothingMeasured(.before) }
        guard let largestNew = Self.largest(new) else { throw .nothingMeasured(.after) }
        let partners = Dictionary(new.map { ($0.series, $0.sessions) }) { one, _ in one }
        let found = old.compactMap { member in
            partners[member.series].map { partner in
                VersionPair(series: member.series, before: member.sessions, after: partner)
            }
        }
        guard !found.isEmpty else { throw Self.refusal(largestOld, largestNew) }
        let order = found.indices.sorted {
            (-found[$0].launches, $0) < (-found[$1].launches, $1)
        }
        pairs = order.map { found[$0] }
        aloneBefore = Self.launches(old) - found.reduce(0) { $0 + $1.before.launches }
        aloneAfter = Self.launches(new) - found.reduce(0) { $0 + $1.after.launches }
    }

    private static func largest(_ members: [Member]) -> VersionSessions? {
        members.map(\.sessions).max { $0.launches < $1.launches }
    }

    private static func launches(_ members: [Member]) -> Int {
        members.reduce(0) { $0 + $1.sessions.launches }
    }

    private static func refusal(
        _ before: VersionSessions, _ after: VersionSessions
    ) -> Refusal {
        let found = MeasurementMismatch.all(
            before: before.circumstances, after: after.circumstances
        ).filter(\.isFatal)
        return found.isEmpty ? .otherArguments : .mismatches(found)
    }
}

/// Finds the version that the user means.
package enum VersionName {
    package enum Problem: Error, Hashable, Sendable {
        case unknown(String)
        /// The text is the beginning of these names, and perhaps of more.
        case ambiguous(String, [String])
    }

    /// - Parameters:
    ///   - text: a version's name, or the beginning of only one.
    ///   - found: versions whose names begin with it, including the one with exactly that name, if
    ///     there is one.
    package static func chosen(
        _ text: String, of found: [String]
    ) throws(Problem) -> String {
        if found.contains(text) { return text }
        guard let first = found.first else { throw .unknown(text) }
        guard found.count == 1 else { throw .ambiguous(text, found) }
        return first
    }
}
