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

extension CalendarDate {
    /// nil for a moment before 1970, and for one that does not fit into 64 bits of nanoseconds.
    init?(secondsSince1970 seconds: Int64) {
        let moment = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !moment.overflow else { return nil }
        self.init(nanosecondsSince1970: moment.partialValue)
    }

    /// "2026-11-23T03:12:09Z"; nil as above.
    static func internetText(secondsSince1970 seconds: Int64) -> String? {
        CalendarDate(secondsSince1970: seconds)?.internetText
    }

    /// The seconds since 1970 for "2026-11-23" (its beginning in UTC) or "2026-11-23T03:12:09Z".
    /// nil: it is neither, or the day does not exist.
    static func seconds(since1970 text: String) -> Int64? {
        let parts = text.split(separator: "T", omittingEmptySubsequences: false)
        guard let date = parts.first, parts.count <= 2, let days = days(date) else { return nil }
        guard parts.count == 2 else { return days * 86_400 }
        guard parts[1].hasSuffix("Z"), let second = seconds(ofDay: parts[1].dropLast()) else {
            return nil
        }
        return days * 86_400 + second
    }

    private static func days(_ text: Substring) -> Int64? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let year = number(parts[0], digits: 4, 1970...9999),
            let month = number(parts[1], digits: 2, 1...12),
            let day = number(parts[2], digits: 2, 1...31)
        else { return nil }
        // days_from_civil, from the same page as the algorithm of ``CalendarDate``. Years begin in
        // March.
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = (shifted / 400, shifted % 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let days =
            era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        // A shorter month has no 31st.
        guard let back = CalendarDate(secondsSince1970: days * 86_400), back.day == day,
            back.month == month
        else { return nil }
        return days
    }

    private static func seconds(ofDay text: Substring) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = number(parts[0], digits: 2, 0...23),
            let minute = number(parts[1], digits: 2, 0...59),
            let second = number(parts[2], digits: 2, 0...59)
        else { return nil }
        return hour * 3_600 + minute * 60 + second
    }

    private static func number(
        _ text: Substring, digits: Int, _ range: ClosedRange<Int64>
    ) -> Int64? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
            let value = Int64(text), range ~= value
        else { return nil }
        return value
    }
}
