/// The information in a just-in-time compiler's name for its code (`/tmp/perf-PID.map`).
///
/// CPython with `-X perf` writes `py::qualified.name:/path/script.py` (`Python/perf_trampoline.c`).
/// Any process may write such a file. Whatever its content, the name is used only as a name and the
/// path only as text.
struct PerfMapName: Hashable {
    var function: String
    /// The script.
    var file: String
    var language: Language

    private static let python = "py::"

    /// nil: the text is only a name.
    init?(_ text: String) {
        guard text.hasPrefix(Self.python) else { return nil }
        let rest = text.dropFirst(Self.python.count)
        guard let colon = Self.separator(of: rest) else { return nil }
        let (function, file) = (rest[..<colon], rest[rest.index(after: colon)...])
        guard !function.isEmpty, !file.isEmpty else { return nil }
        self.function = String(function)
        self.file = String(file)
        language = .python
    }

    /// Both sides may have colons. Nearly all paths begin with `/`, or are no paths (`<string>`).
    private static func separator(of text: Substring) -> Substring.Index? {
        [text.firstRange(of: ":/"), text.firstRange(of: ":<")].compactMap { $0?.lowerBound }.min()
            ?? text.firstIndex(of: ":")
    }
}
