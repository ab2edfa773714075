import Glibc
import ProfileCLI
import Testing

/// Locales without UTF-8.
@Suite struct PlainTextTests {
    @Test(
        arguments: [
            (["LC_ALL": "C"], true), (["LC_ALL": "POSIX", "LANG": "C.UTF-8"], true),
            (["LC_ALL": "", "LC_CTYPE": "C"], true), (["LANG": "de_DE.ISO-8859-1"], true),
            (["LANG": "de_DE.ISO-8859-15@euro"], true), (["LANG": "C"], true),
            (["LC_ALL": "C.UTF-8"], false), (["LANG": "en_US.utf8"], false),
            (["LANG": "en_US"], false),
            (["LC_ALL": "C.UTF-8", "LANG": "C"], false), ([:], false),
        ] as [([String: String], Bool)])
    func locales(environment: [String: String], isNeeded: Bool) {
        #expect(PlainText.isNeeded { environment[$0] } == isNeeded)
    }

    @Test func tablesStayInLine() {
        let text = "● main · 12 µs – … ← → naïve 漢\n"
        let plain = PlainText.of(text)
        #expect(plain == "* main - 12 us - ~ < > na?ve ?\n")
        #expect(PlainText.of("plain\t\u{1b}[1m") == "plain\t\u{1b}[1m")
    }

    @Test func textForPeopleIsPlain() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let console = Console(output: ends[1], error: ends[1]) { $0 == "LC_ALL" ? "C" : nil }
        #expect(console.words("●") == "*")
        console.complain("of 12 µs")
        var buffer = [UInt8](repeating: 0, count: 100)
        let count = read(ends[0], &buffer, buffer.count)
        let written = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        #expect(written == "firstlight: of 12 us\n")
        #expect(Console(output: 1, error: 2) { _ in nil }.words("●") == "●")
    }
}
