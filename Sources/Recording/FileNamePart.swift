import Glibc

/// Parts of file names that are made from a file's content.
package enum FileNamePart {
    /// Letters, digits, dots, dashes and `+`: characters without a special meaning in shells and
    /// paths.
    ///
    /// - Parameter most: the number of characters; later ones are left out.
    package static func plain(_ text: String, most: Int) -> String {
        String(
            text.unicodeScalars.prefix(most).map { scalar in
                let isPlain =
                    "a"..."z" ~= scalar || "A"..."Z" ~= scalar || "0"..."9" ~= scalar
                    || "._+-".unicodeScalars.contains(scalar)
                return isPlain ? Character(scalar) : "_"
            })
    }

    /// "2026-11-23T031209Z", or with a separator other than the dash.
    ///
    /// - Parameter date: in nanoseconds since 1970 UTC.
    package static func moment(_ date: Int64, separator: String = "-") -> String {
        var seconds = time_t(date / 1_000_000_000)
        var fields = tm()
        gmtime_r(&seconds, &fields)
        func digits(_ number: Int32, _ count: Int = 2) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let day = [
            digits(fields.tm_year + 1900, 4), digits(fields.tm_mon + 1), digits(fields.tm_mday),
        ].joined(separator: separator)
        return day + "T" + digits(fields.tm_hour) + digits(fields.tm_min) + digits(fields.tm_sec)
            + "Z"
    }
}
