/// A moment as a date and a time of day, in UTC.
///
/// The algorithm for days is from Howard Hinnant's "chrono-Compatible Low-Level Date Algorithms"
/// (civil_from_days), for moments since 1970.
struct CalendarDate {
    var year: Int64
    var month: Int64
    var day: Int64
    var second: Int64

    /// nil for a moment before 1970.
    init?(nanosecondsSince1970 moment: Int64) {
        guard moment >= 0 else { return nil }
        let seconds = moment / 1_000_000_000
        second = seconds % 86_400
        // Counted from the 1st of March of the year 0, so that leap days are at the end of years.
        let days = seconds / 86_400 + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// "2026-11-23"
    var date: String { "\(year)-\(Self.two(month))-\(Self.two(day))" }

    private var time: String {
        [second / 3_600, second / 60 % 60, second % 60].map(Self.two).joined(separator: ":")
    }

    /// "2026-11-23 03:12:09 UTC"
    var text: String { "\(date) \(time) UTC" }

    /// "2026-11-23T03:12:09Z" (RFC 3339)
    var internetText: String { "\(date)T\(time)Z" }

    private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
