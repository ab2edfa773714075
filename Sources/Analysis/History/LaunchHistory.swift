package import ProfileModel

/// The development of launches: one series for each set of measurements that can be compared.
package struct LaunchHistory: Hashable, Sendable {
    /// The launches that one point of a series stands for.
    package enum Grouping: String, CaseIterable, Sendable {
        case version, day
    }

    /// The machines whose measurements form one series.
    package enum Machines: String, CaseIterable, Sendable {
        /// Each machine has its own series.
        case each
        /// Machines that differ only in their names share a series.
        case alike
    }

    package var grouping: Grouping
    /// The longest time that a launch should take; nil: no goal is set.
    package var goal: TimeSpan?
    /// The series with the most sessions first.
    package var series: [HistorySeries]
    /// The files that are not shown, and why.
    package var leftOut: [LeftOut]
    /// The rule by which steps were found.
    package var rule: ChangePointRule

    package struct LeftOut: Hashable, Sendable {
        package var file: String
        package var reason: String

        package init(file: String, reason: String) {
            self.file = file
            self.reason = reason
        }
    }

    /// - Parameter series: in any order.
    package init(
        _ grouping: Grouping, goal: TimeSpan?, series: [HistorySeries], leftOut: [LeftOut] = [],
        rule: ChangePointRule = ChangePointRule()
    ) {
        (self.grouping, self.goal, self.leftOut, self.rule) = (grouping, goal, leftOut, rule)
        let order = series.indices.sorted {
            (-series[$0].sessions, $0) < (-series[$1].sessions, $1)
        }
        self.series = order.map { series[$0] }
    }

    package var sessions: Int { series.reduce(0) { $0 + $1.sessions } }
}

/// Takes measurements one after the other, in any order, and keeps the part that a history needs.
package struct HistoryBuilder {
    private let machines: LaunchHistory.Machines
    private var groups: [Group] = []
    private var leftOut: [LaunchHistory.LeftOut] = []

    private struct Group {
        /// The latest measurement without its launches.
        var circumstances: Measurement
        var sessions: [HistorySession]
        /// Positions by date: two measurements do not begin in the same nanosecond.
        var dates: [Int64: Int]
        var hosts: Set<String>
    }

    package init(machines: LaunchHistory.Machines = .each) { self.machines = machines }

    /// - Returns: the reason why it is not shown; nil: it is shown.
    @discardableResult
    package mutating func add(_ measurement: Measurement, file: String) -> String? {
        guard let session = HistorySession(of: measurement, file: file) else {
            return leave(file, "no launch counts")
        }
        var circumstances = measurement
        circumstances.launches = []
        guard
            let place = groups.firstIndex(where: {
                $0.circumstances.isComparable(measurement, machines)
            })
        else {
            groups.append(
                Group(
                    circumstances: circumstances, sessions: [session], dates: [session.date: 0],
                    hosts: [measurement.machine.host]))
            return nil
        }
        let known = groups[place].dates[session.date].map { groups[place].sessions[$0] }
        if let known, known.walls == session.walls, known.version == session.version {
            return leave(file, "is the same measurement as \(known.file)")
        }
        groups[place].dates[session.date] = groups[place].sessions.count
        groups[place].sessions.append(session)
        groups[place].hosts.insert(measurement.machine.host)
        if session.date >= groups[place].circumstances.header.date {
            groups[place].circumstances = circumstances
        }
        return nil
    }

    private mutating func leave(_ file: String, _ reason: String) -> String {
        leftOut.append(LaunchHistory.LeftOut(file: file, reason: reason))
        return reason
    }

    /// - Parameter reason: without the file's name.
    package mutating func leaveOut(_ file: String, because reason: String) {
        _ = leave(file, reason)
    }

    package func history(
        by grouping: LaunchHistory.Grouping, goal: TimeSpan? = nil,
        rule: ChangePointRule = ChangePointRule()
    ) -> LaunchHistory {
        LaunchHistory(
            grouping, goal: goal,
            series: groups.map { group in
                HistorySeries(
                    group.circumstances, machines: group.hosts.count,
                    Self.points(group.sessions, grouping), rule)
            }, leftOut: leftOut, rule: rule)
    }

    /// In the order of each point's first session.
    private static func points(
        _ sessions: [HistorySession], _ grouping: LaunchHistory.Grouping
    ) -> [HistoryPoint] {
        var labels: [HistoryPoint.Label] = []
        var members: [HistoryPoint.Label: [HistorySession]] = [:]
        for session in sessions.sorted(by: { ($0.date, $0.file) < ($1.date, $1.file) }) {
            let label = label(of: session, grouping)
            if members[label] == nil { labels.append(label) }
            members[label, default: []].append(session)
        }
        return labels.compactMap { HistoryPoint($0, members[$0] ?? []) }
    }

    private static func label(
        of session: HistorySession, _ grouping: LaunchHistory.Grouping
    ) -> HistoryPoint.Label {
        switch grouping {
        case .version: session.version.map(HistoryPoint.Label.version) ?? .unnamed(session.date)
        case .day: .day(session.date / nanosecondsOfDay)
        }
    }

    private static let nanosecondsOfDay: Int64 = 86_400_000_000_000
}

extension Measurement {
    /// Whether the other's figures can be compared with this one's. They can if both have the same
    /// program with the same arguments, in any folder, and nothing differs that
    /// ``MeasurementMismatch`` calls fatal.
    ///
    /// - Parameter machines: whether machines that are alike count as different ones.
    package func isComparable(
        _ other: Measurement, _ machines: LaunchHistory.Machines = .each
    ) -> Bool {
        guard let arm = arms.first, let another = other.arms.first else { return false }
        return arm.name == another.name && arm.command.dropFirst() == another.command.dropFirst()
            && !MeasurementMismatch.all(before: self, after: other).contains {
                $0.isFatal && !(machines == .alike && $0.isOfName)
            }
    }
}
