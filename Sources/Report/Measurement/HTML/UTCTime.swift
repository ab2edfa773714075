/// A moment as people write it, in UTC.
enum UTCTime {
    /// "2026-11-23 03:09 UTC" of nanoseconds since 1970; the proleptic Gregorian calendar.
    static func text(nanosecondsSince1970 nanoseconds: Int64) -> String {
        let minutes = floor(nanoseconds, 60_000_000_000)
        let days = floor(minutes, 1440)
        let minute = minutes - days * 1440
        let (year, month, day) = date(days)
        return "\(year)-\(two(month))-\(two(day)) \(two(minute / 60)):\(two(minute % 60)) UTC"
    }

    /// Years begin in March here, so that a leap day is the last of its year.
    private static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // From 0000-03-01.
        let day = days + 719_468
        let era = floor(day, 146_097)
        let dayOfEra = day - era * 146_097
        let year =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
        // Months from March on have 153 days in five.
        let month = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * month + 2) / 5 + 1
        let calendar = month < 10 ? month + 3 : month - 9
        return (era * 400 + year + (calendar <= 2 ? 1 : 0), calendar, dayOfMonth)
    }

    /// Rounded towards the past.
    private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }

    private static func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
