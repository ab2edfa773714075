import Analysis
package import ProfileModel

/// Identifies a file's content, independently of its path.
package struct ShippedSession: Hashable, Sendable {
    package let number: UInt64
    /// When the measurement began, or the recording was written, in nanoseconds since 1970 UTC.
    package let date: Int64
    /// How many launches count.
    package let launches: Int
    /// Grows while a session goes on, so that the latest state of it wins; as the table has it.
    let progress: UInt64
    let ending: String

    /// How far a clock may be off before this is reported: a day.
    private static let skew: Int64 = 86_400_000_000_000

    /// True if its date cannot be right: its machine's clock was wrong.
    ///
    /// - Parameter now: the server's time, in nanoseconds since 1970 UTC.
    package func isAhead(of now: Int64) -> Bool { date - Self.skew > now }

    package init(of measurement: Measurement) {
        self.init(
            of: measurement,
            launches: HistorySession(of: measurement, file: "")?.launches ?? 0)
    }

    /// Unique, because no two measurements begin in the same nanosecond on one machine.
    init(of measurement: Measurement, launches: Int) {
        let (header, machine) = (measurement.header, measurement.machine)
        let words =
            ["measurement", machine.host, machine.boot ?? "", "\(header.date)"]
            + measurement.arms.flatMap { [$0.path] + $0.command }
        number = words.fingerprint
        date = max(0, header.date)
        self.launches = launches
        progress = UInt64(measurement.launches.count) * 2 + (header.ending == .unknown ? 0 : 1)
        ending = header.ending.rawValue
    }

    /// Recordings contain no date, but process id and times together are unique. All of them are
    /// stored values, so the number is the same in every version.
    ///
    /// - Parameter date: when it was written, in nanoseconds since 1970 UTC.
    package init(of recording: Recording, date: Int64) {
        let times = recording.borders.prefix(4).map { "\($0.time.nanoseconds)" }
        let words =
            ["recording", recording.images.last?.path ?? "", "\(recording.header.pid)"] + times
        number = words.fingerprint
        self.date = max(0, date)
        (launches, progress, ending) = (1, 3, Measurement.Ending.complete.rawValue)
    }
}
