package import Analysis
package import ProfileModel

/// One measurement or recording as rows of the tables.
package struct ShippedFile: Sendable {
    package let path: String
    package let session: Session
    /// By table and partition.
    private(set) var rows: [Place: Rows] = [:]

    /// What the file is of, wherever it lies.
    package struct Session: Hashable, Sendable {
        package var number: UInt64
        /// When a measurement began, or a recording was written, in nanoseconds since 1970 UTC.
        package var date: Int64
        /// How many launches count.
        package var launches: Int
        package var ending: String
    }

    struct Place: Hashable, Sendable {
        var table: Table
        /// 0: the table has one partition only.
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

    /// How long all rows are, in bytes.
    package var size: Int { rows.values.reduce(0) { $0 + $1.writer.bytes.count } }

    mutating func add(
        to table: Table, at date: Int64? = nil, _ row: (inout RowBinaryWriter) -> Void
    ) {
        let place = Place(table: table, month: date.map { Month.number(of: $0) } ?? 0)
        rows[place, default: Rows()].add(row)
    }

    // MARK: Measurements

    package init(_ measurement: Measurement, path: String) {
        self.path = path
        let date = max(0, measurement.header.date)
        let summary = HistorySession(of: measurement, file: path)
        session = Session(
            number: measurement.sessionNumber, date: date, launches: summary?.launches ?? 0,
            ending: measurement.header.ending.rawValue)
        for (index, launch) in measurement.launches.enumerated() {
            let row = LaunchRow(measurement, launch, index, session)
            add(to: .launches, at: row.date) { row.write(to: &$0) }
        }
        let row = SessionRow(measurement, summary, session, path: path)
        add(to: .sessions, at: date) { row.write(to: &$0) }
    }

    // MARK: Recordings

    /// - Parameter date: when it was written, in nanoseconds since 1970 UTC.
    package init(_ profile: Profile, date: Int64, path: String) {
        self.path = path
        session = Session(
            number: profile.sessionNumber, date: max(0, date), launches: 1, ending: "complete")
        let costs = RecordedCosts(of: profile)
        let header = CostHeader(profile, session)
        for thing in costs.things {
            add(to: .things) { header.write(thing, to: &$0) }
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

/// As a table's partitions are called: 202611.
enum Month {
    /// - Parameter date: in nanoseconds since 1970 UTC, not before.
    static func number(of date: Int64) -> Int {
        // Years that begin in March have their odd day at the end (Fliegel and Van Flandern's way).
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

extension Measurement {
    /// Two measurements do not begin in the same nanosecond on one machine.
    var sessionNumber: UInt64 {
        let words =
            ["measurement", machine.host, machine.boot ?? "", "\(header.date)"]
            + arms.flatMap { [$0.path] + $0.command }
        return words.sessionNumber
    }
}

extension Profile {
    /// Recordings have no date inside: these are figures that no two launches share.
    var sessionNumber: UInt64 {
        [
            "recording", program.path, programBuildID.hex, "\(header.pid)",
            "\(start.nanoseconds)", "\(launch.wall.nanoseconds)", "\(launch.cpu.nanoseconds)",
        ].sessionNumber
    }
}

extension [String] {
    /// Lengths keep two lists apart that read alike.
    fileprivate var sessionNumber: UInt64 {
        let text = map { "\($0.utf8.count):\($0)" }.joined()
        return text.utf8.fingerprint
    }
}
