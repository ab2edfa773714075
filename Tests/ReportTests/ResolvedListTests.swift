import Analysis
import ProfileModel
import Report
import TestSupport
import Testing

/// The list of resolved things, as people and `top --resolve` write it.
@Suite struct ResolvedListTests {
    private func entry(_ line: String) -> ResolvedEntry? {
        let list = ResolvedList(line)
        #expect(list.entries.count + list.problems.count == 1, "\(line)")
        return list.entries.first
    }

    private func problem(_ line: String) -> String? {
        let list = ResolvedList(line)
        #expect(list.entries.isEmpty, "\(line)")
        return list.problems.first?.reason
    }

    @Test func theUsualLine() {
        let line =
            #"{"since":"2026-11-24T12:00:00Z","build":"A1FE","kind":"wait","reason":"lock","#
            + #""module":"app","name":"Cache::open(char const*)","note":"ours"}"#
        #expect(
            entry(line)
                == ResolvedEntry(
                    ResolvedEntry.Thing(
                        .wait, "Cache::open(char const*)", module: "app", reason: .lock),
                    since: 1_795_521_600, build: "a1fe"))
        #expect(
            entry(#" { "name" : "f" , "since" : "1970-01-02", "n": -1.5e3, "x": null } "#)
                == ResolvedEntry(ResolvedEntry.Thing(.function, "f"), since: 86_400))
    }

    @Test func linesThatSayNothing() {
        let list = ResolvedList("\n# {\"name\":\"f\"}\n   \r\n\t# x\n")
        #expect(list.entries.isEmpty && list.problems.isEmpty)
    }

    @Test(arguments: [
        ("{", "a text in quotes is missing"), ("{}", "\"name\" is missing: what was resolved"),
        ("[]", "'{' is missing"), ("hello", "'{' is missing"),
        (#"{"name":"f"}"#, "\"since\" must be a date, like 2026-11-24 or 2026-11-24T18:00:00Z"),
        (#"{"name":"","since":"2026-11-24"}"#, "\"name\" is missing: what was resolved"),
        (#"{"name":["f"],"since":"2026-11-24"}"#, "a value is an object or an array"),
        (#"{"name":"f","since":"2026-11-24"} more"#, "there is text after the object"),
        (#"{"name":"f","since":"2026-11-24"#, "a text's closing quote is missing"),
        (#"{"name":"\q"}"#, "a backslash is followed by an unknown letter"),
        (#"{"name":"\u12"}"#, "\\u is not followed by four digits"),
        (#"{"name":"\u１２３４"}"#, "\\u is not followed by four digits"),
        (#"{"name":oops}"#, "a value is missing or not JSON"),
        (#"{"name":"f" "since":"2026-11-24"}"#, "'}' is missing"),
        (
            #"{"name":"f","since":"2026-11-24","kind":"phase"}"#,
            "\"kind\" must be one of function, wait, initializer, library, process"
        ),
        (
            #"{"name":"f","since":"2026-11-24","kind":"wait","reason":"love"}"#,
            "\"reason\" is not a reason of waits"
        ),
        ("{\"name\":\"a\tb\"}", "a text has a control character"),
    ]) func oddLines(line: String, reason: String) {
        #expect(problem(line) == reason)
    }

    /// An odd line does not affect the others, and is reported by its number.
    @Test func theRestCounts() {
        let good = #"{"name":"f","since":"2026-11-24"}"#
        let list = ResolvedList([good, "# x", "oops", good, "{"].joined(separator: "\n"))
        #expect(list.entries.count == 2)
        #expect(list.problems.map(\.line) == [3, 5])
    }

    @Test(
        arguments: [
            ("1970-01-01", 0), ("2024-02-29", 1_709_164_800), ("2000-03-01", 951_868_800),
            ("2026-11-24T23:59:59Z", 1_795_564_799), ("9999-12-31", 253_402_214_400),
        ] as [(String, Int64?)]) func dates(text: String, seconds: Int64?)
    {
        let found = entry(#"{"name":"f","since":"\#(text)"}"#)
        // Dates that nanoseconds of 64 bits do not hold are none.
        #expect(found?.since == (seconds.map { $0 < 9_223_372_036 } ?? false ? seconds : nil))
    }

    @Test(arguments: [
        "", "yesterday", "2026-02-29", "2026-11-31", "2026-13-01", "2026-00-01", "2026-1-01",
        "1969-12-31", "2026-11-24T24:00:00Z", "2026-11-24T12:60:00Z", "2026-11-24T12:00:00",
        "2026-11-24T12:00Z", "2026-11-24 12:00:00Z", "2026-11-24T", "T", "+026-11-24",
        "2026-11-24T12:00:00ZZ", "２026-11-24",
    ]) func noDates(text: String) {
        #expect(problem(#"{"name":"f","since":"\#(text)"}"#)?.hasPrefix("\"since\"") == true)
    }

    @Test(arguments: 0..<50 as Range<UInt64>) func aWrittenListIsReadBack(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        func text() -> String {
            var result = ""
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let scalar =
                    [
                        Unicode.Scalar(UInt32.random(in: 0...0x7f, using: &random)),
                        Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random)), "\"", "\\",
                        "\n", "\u{1F680}", "\u{202e}",
                    ].randomElement(using: &random) ?? nil
                result.unicodeScalars.append(scalar ?? "x")
            }
            return result
        }
        let entries = (0..<8).map { _ in
            ResolvedEntry(
                ResolvedEntry.Thing(
                    TopKind.allCases.randomElement(using: &random) ?? .function, text(),
                    module: Bool.random(using: &random) ? text() : nil,
                    reason: Bool.random(using: &random)
                        ? WaitReason.Kind.allCases.randomElement(using: &random) : nil),
                since: Int64.random(in: 0..<9_000_000_000, using: &random),
                build: ["", "a1fe"].randomElement(using: &random) ?? "")
        }
        let text = ResolvedList.lines(entries)
        let list = ResolvedList(text)
        #expect(list.problems.isEmpty)
        #expect(list.entries == entries)
        #expect(text.split(separator: "\n").count == entries.count)
    }

    /// Any content gives only entries and problems.
    @Test(arguments: 0..<200 as Range<UInt64>) func noiseIsHarmless(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var bytes = Array(
            #"{"since":"2026-11-24","name":"f\n\u0041\ud83d\ude80","kind":"wait","x":1}"#.utf8)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: place)
            default: bytes = Array(bytes[..<max(1, place)])
            }
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let list = ResolvedList(text)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).count
        #expect(list.entries.count + list.problems.count <= lines)
    }
}
