import ELF
import Glibc
import TestSupport
import Testing

/// Files that are cut short, damaged and made up: whatever is answered, nothing crashes. In processes of
/// their own, because what would crash is C.
@Suite struct HostileFileTests {
    /// Asks everything that is asked of files.
    private static func examine(_ content: [UInt8]) throws {
        guard let file = try? ELFFile(content) else { return }
        _ = (file.buildID, file.identity, file.interpreter, file.contents.count)
        for index in file.sections.indices { _ = file.bytes(ofSection: index).reduce(0, &+) }
        for segment in file.segments {
            for address in [segment.address, segment.address &+ segment.fileSize &- 1, .max] {
                try #require(file.mapped(at: address, count: 4096).count <= 4096)
            }
            try #require(file.bytes(from: segment.offset, count: 64).count <= 64)
        }
        for table in file.symbolTables {
            for index in 0..<table.count {
                _ = table.entry(index).map { table.name(at: $0.name) }
            }
            _ = table.address(of: "second")
        }
    }

    @Test func everyTruncation() async {
        await #expect(processExitsWith: .success) {
            let bytes = MadeELF.whole.bytes
            for length in 0...bytes.count { try Self.examine(Array(bytes[..<length])) }
        }
    }

    @Test func mutations() async {
        await #expect(processExitsWith: .success) {
            let bytes = MadeELF.whole.bytes
            var random = SeededNumbers(seed: 11)
            // The file's header, those of segments, those of sections; all.
            let places = [4..<64, 64..<288, (bytes.count - 576)..<bytes.count, 4..<bytes.count]
            for round in 0..<8000 {
                var damaged = bytes
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    let index = Int.random(in: places[round % 4], using: &random)
                    let extreme: UInt8 =
                        [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
                    damaged[index] =
                        Bool.random(using: &random)
                        ? extreme : UInt8.random(in: 0...255, using: &random)
                }
                try Self.examine(damaged)
            }
        }
    }

    /// Numbers at the ends of their range, in each place of each table.
    @Test func extremes() async {
        await #expect(processExitsWith: .success) {
            let bytes = MadeELF.whole.bytes
            let headers = Array(stride(from: 16, to: 288, by: 4))
            let sections = Array(stride(from: bytes.count - 576, to: bytes.count, by: 4))
            for place in headers + sections {
                for value in [0, 1, .max, .max - 1, .max >> 1, 1 << 63, 1 << 32] as [UInt64] {
                    for size in [2, 4, 8] where place + size <= bytes.count {
                        var damaged = bytes
                        damaged.replaceSubrange(
                            place..<place + size, with: number(value).prefix(size))
                        try Self.examine(damaged)
                    }
                }
            }
        }
    }

    /// A link that leads out of the file, or to a table that is no table of texts.
    @Test(arguments: [0, 1, 2, 99, .max] as [UInt32]) func wrongLinks(link: UInt32) throws {
        var made = MadeELF.whole
        made.sections[1].link = link
        let table = try #require(try ELFFile(made.bytes).symbolTables.first)
        #expect(table.address(of: "second") == nil)
    }

    @Test(arguments: [1, 1 << 20, .max] as [UInt64]) func sectionsThatLeadOut(size: UInt64) throws {
        var made = MadeELF.whole
        for index in made.sections.indices { made.sections[index].size = size }
        try Self.examine(made.bytes)
    }

    /// Headers of another size than theirs are none.
    @Test func headersOfAnotherSize() throws {
        var bytes = MadeELF.whole.bytes
        bytes[58] = 40
        let file = try ELFFile(bytes)
        #expect(file.sections.isEmpty && file.symbolTables.isEmpty && file.segments.count == 4)
        #expect(file.bytes(ofSection: 1).isEmpty)
    }

    @Test func othersAreRefused() {
        for (place, value) in [(4, 3), (5, 2), (6, 0), (0, 0)] as [(Int, UInt8)] {
            var bytes = MadeELF.whole.bytes
            bytes[place] = value
            #expect(throws: ELFFileError.notUsable) { try ELFFile(bytes) }
        }
        #expect(throws: ELFFileError.cannotOpen(ENOENT)) { try ELFFile(path: "/nonexistent") }
        for path in ["/", "/dev/null", "/etc/hostname"] {
            #expect(throws: ELFFileError.notUsable) { try ELFFile(path: path, access: .read) }
            #expect(throws: ELFFileError.notUsable) { try ELFFile(path: path) }
        }
    }
}
