import Glibc
import ProfileCLI
import Testing

/// Data from standard input.
@Suite struct StandardInputTests {
    @Test func isKeptAsLongAsItIsRead() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        #expect(write(ends[1], "words", 5) == 5)
        close(ends[1])
        let path = try readOnce(ends[0])
        #expect(access(path, F_OK) != 0)
    }

    private func readOnce(_ descriptor: Int32) throws -> String {
        let input = try StandardInput(descriptor)
        let path = input.path
        let file = open(path, O_RDONLY)
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 10)
        #expect(read(file, &buffer, 10) == 5)
        #expect(String(decoding: buffer.prefix(5), as: UTF8.self) == "words")
        return withExtendedLifetime(input) { path }
    }

    @Test func helpAndManualNameIt() {
        #expect(HelpText.render(.report).contains("standard input"))
        #expect(ManualPage.render(.report).contains("standard input"))
    }

    @Test func unreadableInputIsAnError() {
        #expect(throws: StandardInput.Failure.self) { try StandardInput(-1) }
    }
}
