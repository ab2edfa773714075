import Glibc

/// Text for locales without UTF-8. Each character that reports draw with has a replacement of one
/// column, so that tables stay aligned. Formats for programs always use UTF-8.
package enum PlainText {
    /// True if the chosen locale (`LC_ALL` before `LC_CTYPE` before `LANG`) has no UTF-8. If none
    /// was chosen, this says nothing about the terminal.
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

    /// The same in ASCII. Other characters become question marks.
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
    /// Text for people, as far as the locale can show it.
    package func words(_ text: String) -> String { isPlain ? PlainText.of(text) : text }

    /// The bytes of a text for people that goes to a file, or else to standard output. A file may
    /// be read anywhere, so it keeps UTF-8.
    func bytes(_ text: String, for path: String?) -> [UInt8] {
        Array((path == nil ? words(text) : text).utf8)
    }
}
