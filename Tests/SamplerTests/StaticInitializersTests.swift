import Glibc
import TestSupport
import Testing

@testable import Images
@testable import Sampler

/// Which of a static program's words lead to its initialisers.
@Suite struct StaticInitializersTests {
    // MARK: Programs that relocate themselves

    private static let (dynamicSize, wordsStart, tableStart) = (0x100, 0x100, 0x200)
    private static let code: UInt64 = 0x7000_0000

    /// A program in our memory: its dynamic section, four words and their relocations.
    private struct Made {
        var entries: [(UInt64, UInt64)] = []
        var relocations: [(place: UInt64, kind: UInt64, addend: UInt64)] = []
        let memory = MadeMemory([UInt8](repeating: 0, count: 0x1000))

        init() {
            let start = memory.address
            let words = start + UInt64(wordsStart)
            entries = [
                (32, words), (33, 8), (25, words + 8), (27, 24),
                (7, start + UInt64(tableStart)), (8, 24 * 6),
            ]
            relocations = [(start, 8, 0x1000)]
            for index in [3, 1, 0, 2] as [UInt64] {
                relocations.append((words + 8 * index, 8, code + 16 * index))
            }
            relocations.append((start + 0xF00, 37, code))
        }

        func found(isWritable: Bool = true) throws -> StaticInitializers? {
            for (index, entry) in (entries + [(0, 0)]).enumerated() {
                write([entry.0, entry.1], at: 16 * index)
            }
            for (index, relocation) in relocations.enumerated() {
                write(
                    [relocation.place, relocation.kind, relocation.addend],
                    at: tableStart + 24 * index)
            }
            let (start, size) = (memory.address, UInt64(memory.count))
            let made = MadeImage([
                MadeImage.Segment(flags: isWritable ? 6 : 4, start: start, size: size),
                MadeImage.Segment(flags: 5, start: code, size: 0x100),
                MadeImage.Segment(kind: 2, flags: 6, start: start, size: UInt64(dynamicSize)),
            ])
            return StaticInitializers(try made.image(), ofFile: "/proc/self/exe")
        }

        private func write(_ words: [UInt64], at offset: Int) {
            for (index, word) in words.enumerated() where offset + 8 * index + 8 <= memory.count {
                memory.start.storeBytes(of: word, toByteOffset: offset + 8 * index, as: UInt64.self)
            }
        }
    }

    /// In the order of the words, those of preinit_array first; each by its relocation.
    @Test func relocatedWords() throws {
        let made = Made()
        let found = try #require(try made.found())
        let words = made.memory.address + UInt64(Self.wordsStart)
        let table = made.memory.address + UInt64(Self.tableStart)
        #expect(found.words.map(\.address) == (0..<4).map { words + 8 * $0 })
        #expect(found.words.map(\.function) == (0..<4).map { Self.code + 16 * $0 })
        #expect(found.words.map(\.source) == [3, 2, 4, 1].map { table + 24 * $0 + 16 })
        #expect(found.bias == 0 && !found.isProtected)
    }

    @Test func uncertainInitialisersAreLeftOut() throws {
        func expectNothing(_ change: (inout Made) -> Void) throws {
            var made = Made()
            change(&made)
            #expect(try made.found() == nil)
        }
        #expect(try Made().found(isWritable: false) == nil)
        // Without a relocation, with two, of another kind, and to an address without code.
        try expectNothing { $0.relocations.remove(at: 1) }
        try expectNothing { $0.relocations[0].place = $0.relocations[1].place }
        try expectNothing { $0.relocations[2].kind = 37 }
        try expectNothing { $0.relocations[3].addend = 0x10 }
        // Tables of no, odd or impossible lengths and places.
        for size in [0, 4, 1 << 20, .max, .max - 7] as [UInt64] {
            try expectNothing {
                $0.entries[1].1 = size
                $0.entries[3].1 = size
            }
            try expectNothing { $0.entries[5].1 = size == 1 << 20 ? 0 : size }
        }
        for place in [0, 4, .max - 7, 1 << 63] as [UInt64] {
            try expectNothing { $0.entries[0].1 = place }
            try expectNothing { $0.entries[4].1 = place }
        }
        try expectNothing { $0.entries = [] }
    }

    @Test func anyNumbersAtAll() throws {
        var random = SeededNumbers(seed: 27)
        let made = Made()
        let values = [
            0, 1, 7, 8, 24, 25, 27, 32, 33, made.memory.address, made.memory.address + 0x100,
            Self.code, 1 << 63, .max, .max - 7,
        ]
        for _ in 0..<2000 {
            func value() -> UInt64 { values.randomElement(using: &random) ?? 0 }
            var made = Made()
            made.entries = (0..<6).map { _ in (value(), value()) }
            made.relocations = (0..<4).map { _ in (value(), value(), value()) }
            let found = try made.found()
            #expect((found?.words.count ?? 1) > 0)
        }
    }

    // MARK: The file's sections

    private static func file(
        _ sections: [(kind: UInt32, address: UInt64, size: UInt64)], entrySize: UInt16 = 64
    ) throws -> (path: String, scratch: Scratch) {
        var all: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 57)
        all.replaceSubrange(40..<48, with: bytes(of: UInt64(64)))
        all.replaceSubrange(58..<60, with: bytes(of: entrySize))
        all.replaceSubrange(60..<62, with: bytes(of: UInt16(sections.count)))
        for section in sections {
            var header = [UInt8](repeating: 0, count: 64)
            header.replaceSubrange(4..<8, with: bytes(of: section.kind))
            header.replaceSubrange(16..<24, with: bytes(of: section.address))
            header.replaceSubrange(32..<40, with: bytes(of: section.size))
            all += header
        }
        let scratch = try Scratch()
        let path = try scratch.write("", to: "program")
        let file = open(path, O_WRONLY | O_TRUNC)
        try #require(file >= 0)
        #expect(all.withUnsafeBytes { write(file, $0.baseAddress, $0.count) } == all.count)
        close(file)
        return (path, scratch)
    }

    @Test func sections() throws {
        let made = try Self.file([
            (0, 0, 0), (1, 0x40_1000, 0x500), (14, 0x40_5010, 16), (16, 0x40_5000, 8),
            (15, 0x40_5020, 8),
        ])
        #expect(
            StaticInitializers.arrays(ofFile: made.path)
                == [0x40_5000..<0x40_5008, 0x40_5010..<0x40_5020])
        let empty = try Self.file([(14, 0x40_5010, 0)])
        #expect(StaticInitializers.arrays(ofFile: empty.path) == [])
        let odd: [(UInt64, UInt64)] = [
            (0x40_5011, 16), (0x40_5010, 12), (.max - 7, 16), (8, 1 << 40),
        ]
        for (address, size) in odd {
            let made = try Self.file([(14, 0x40_5010, 16), (14, address, size)])
            #expect(StaticInitializers.arrays(ofFile: made.path) == nil)
        }
        let other = try Self.file([(14, 0x40_5010, 16)], entrySize: 40)
        #expect(StaticInitializers.arrays(ofFile: other.path) == nil)
        for path in ["/nonexistent", "/", "/dev/null", "/etc/hostname"] {
            #expect(StaticInitializers.arrays(ofFile: path) == nil)
        }
    }
}
