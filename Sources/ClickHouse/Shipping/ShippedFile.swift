package import Analysis
package import ProfileModel

/// One measurement or recording as rows of the tables.
package struct ShippedFile: Sendable {
    package let session: ShippedSession
    /// By table and partition.
    private(set) var rows: [Place: Rows] = [:]

    struct Place: Hashable, Sendable {
        var table: Table
        /// 0 if the table has only one partition.
        var month: Int
    }

    struct Rows: Sendable {
        private(set) var writer = RowBinaryWriter()
        private(set) var count = 0

        mutating func add(_ row: (inout RowBinaryWriter) -> Void) {
            row(&writer)
            count += 1
        }
    }

    /// The size of all rows, in bytes.
    package var size: Int { rows.values.reduce(0) { $0 + $1.writer.bytes.count } }

    mutating func add(
        to table: Table, at date: Int64? = nil, _ row: (inout RowBinaryWriter) -> Void
    ) {
        let place = Place(table: table, month: date.map { Month.number(of: $0) } ?? 0)
        rows[place, default: Rows()].add(row)
    }

    // MARK: Measurements

    package init(_ measurement: Measurement, path: String) {
        let summary = HistorySession(of: measurement, file: path)
        session = ShippedSession(of: measurement, launches: summary?.launches ?? 0)
        for (index, launch) in measurement.launches.enumerated() {
            let row = LaunchRow(measurement, launch, index, session)
            add(to: .launches, at: row.date) { row.write(to: &$0) }
        }
        let row = SessionRow(measurement, summary, session, path: path)
        add(to: .sessions, at: session.date) { row.write(to: &$0) }
    }

    // MARK: Recordings

    /// - Parameter session: identifies the recording.
    package init(_ profile: Profile, _ session: ShippedSession, path: String) {
        self.session = session
        let costs = RecordedCosts(of: profile)
        let header = CostHeader(profile, session)
        for (number, thing) in costs.things {
            add(to: .things) { header.write(number, thing, to: &$0) }
        }
        for (stack, things) in costs.frames {
            add(to: .frames) { header.write(stack, things, to: &$0) }
        }
        for stacks in costs.stacks {
            add(to: .stacks, at: session.date) { header.write(stacks, to: &$0) }
        }
        for part in costs.parts {
            add(to: .costs, at: session.date) { header.write(part, to: &$0) }
        }
        let launch = LaunchRow(profile, session)
        add(to: .launches, at: session.date) { launch.write(to: &$0) }
        let row = SessionRow(profile, session, path: path)
        add(to: .sessions, at: session.date) { row.write(to: &$0) }
    }
}

/// The name of a table's partition: 202611.
enum Month {
    /// - Parameter date: in nanoseconds since 1970 UTC, not before.
    static func number(of date: Int64) -> Int {
        // In years that begin in March, the leap day is the last day (Fliegel and Van Flandern).
        let days = Int(date / 86_400_000_000_000) + 719_468
        let era = days / 146_097
        let day = days % 146_097
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let isNext = month >= 10
        return (era * 400 + year + (isNext ? 1 : 0)) * 100 + (isNext ? month - 9 : month + 3)
    }
}
