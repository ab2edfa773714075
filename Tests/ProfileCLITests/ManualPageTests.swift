import Glibc
import ProfileCLI
import Testing

@Suite struct ManualPageTests {
    private static let pages: [Subcommand?] = [nil] + Subcommand.allCases

    /// `make manual` brings them up to date.
    @Test(arguments: pages) func theStoredPageIsCurrent(of subcommand: Subcommand?) throws {
        let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let name = "firstlight" + (subcommand.map { "-\($0.rawValue)" } ?? "")
        let descriptor = open(root + "/docs/\(name).1", O_RDONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let size = Int(lseek(descriptor, 0, SEEK_END))
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(pread(descriptor, buffer.baseAddress, size, 0), 0)
        }
        let isCurrent = String(decoding: bytes, as: UTF8.self) == ManualPage.render(subcommand)
        #expect(isCurrent, "run: make manual")
    }

    @Test(arguments: Subcommand.allCases) func everyOptionIsThere(subcommand: Subcommand) {
        let page = ManualPage.render(subcommand)
        for option in OptionTable.options(of: subcommand) {
            #expect(page.contains("\\-\\-" + option.long.replacing("-", with: "\\-")))
        }
        #expect(ManualPage.render().contains("firstlight\\-\(subcommand.rawValue) (1)"))
    }

    /// A line that begins with a dot and is no request would vanish.
    @Test(arguments: pages) func onlyKnownRequests(of subcommand: Subcommand?) {
        let known: Set<Substring> = [
            ".TH", ".SH", ".TP", ".PP", ".B", ".BR", ".RB", ".I", ".IR", ".br", ".\\\"",
        ]
        for line in ManualPage.render(subcommand).split(separator: "\n") where line.hasPrefix(".") {
            #expect(known.contains(line.prefix { $0 != " " }), "\(line)")
        }
    }
}
