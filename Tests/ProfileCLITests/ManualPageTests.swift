import Glibc
import ProfileCLI
import Testing

@Suite struct ManualPageTests {
    /// `firstlight --manual-page > docs/firstlight.1` brings it up to date.
    @Test func theStoredPageIsCurrent() throws {
        let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let descriptor = open(root + "/docs/firstlight.1", O_RDONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let size = Int(lseek(descriptor, 0, SEEK_END))
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(pread(descriptor, buffer.baseAddress, size, 0), 0)
        }
        let isCurrent = String(decoding: bytes, as: UTF8.self) == ManualPage.render()
        #expect(isCurrent, "run: firstlight --manual-page > docs/firstlight.1")
    }

    @Test func everyOptionIsThere() {
        let page = ManualPage.render()
        for option in OptionTable.options {
            #expect(page.contains("\\-\\-" + option.long.replacing("-", with: "\\-")))
        }
    }

    /// A line that begins with a dot and is no request would vanish.
    @Test func onlyKnownRequests() {
        let known: Set<Substring> = [
            ".TH", ".SH", ".TP", ".PP", ".B", ".BR", ".RB", ".I", ".IR", ".br", ".\\\"",
        ]
        for line in ManualPage.render().split(separator: "\n") where line.hasPrefix(".") {
            #expect(known.contains(line.prefix { $0 != " " }), "\(line)")
        }
    }
}
