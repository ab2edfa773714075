import Glibc

/// Text for locales without UTF-8: what reports draw with has a stand-in there, one column for one, so
/// that tables stay in line. Formats for programs are UTF-8 everywhere.
package enum PlainText {
    /// Whether the locale that was chosen (`LC_ALL` before `LC_CTYPE` before `LANG`) has none. One
    /// that nobody chose says nothing of the terminal.
    package static func isNeeded(_ environment: (String) -> String?) -> Bool {
        let chosen = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment)
            .first { !$0.isEmpty }
        guard let chosen else { return false }
        let name = chosen.prefix { $0 != "@" }
        if name == "C" || name == "POSIX" { return true }
        guard let dot = name.firstIndex(of: ".") else { return false }
        let charset = name[name.index(after: dot)...].lowercased().filter { $0 != "-" }
        return charset != "utf8"
    }

    /// The same in ASCII. What has no stand-in becomes a question mark.
    package static func of(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar.isASCII {
                result.unicodeScalars.append(scalar)
            } else {
                result.append(standIns[scalar] ?? "?")
            }
        }
        return result
    }

    private static let standIns: [Unicode.Scalar: Character] = [
        "●": "*", "·": "-", "…": "~", "–": "-", "—": "-", "→": ">", "←": "<", "◀": "<", "µ": "u",
        "μ": "u", "×": "x", "±": "~", "≤": "<", "≥": ">", "‘": "'", "’": "'", "“": "\"", "”": "\"",
        "█": "#", "▇": "#", "▆": "#", "▅": "=", "▄": "=", "▃": "-", "▂": "-", "▁": "_", "│": "|",
        "├": "|", "└": "`", "─": "-",
    ]
}

extension Console {
    /// Text for people, as the locale can show it.
    package func words(_ text: String) -> String { isPlain ? PlainText.of(text) : text }

    /// The bytes of a text for people that goes to a file, or to standard output without one. A file
    /// may be read anywhere.
    func bytes(_ text: String, for path: String?) -> [UInt8] {
        Array((path == nil ? words(text) : text).utf8)
    }
}
