import TestSupport
import Testing

@testable import Agent
@testable import Images
@testable import ProcessIO
@testable import Sampler

/// Queries on images that no linker made.
@Suite struct MadeImageTests {
    // MARK: Where things are

    @Test func loadedSegments() throws {
        let made = MadeImage(
            [
                MadeImage.Segment(start: 0x1000, size: 0x500),
                MadeImage.Segment(kind: 2, start: 0x8000, size: 0x100),
                MadeImage.Segment(kind: 0x6474_E552, start: 0x9000, size: 0x1000),
            ], bias: 0x5000_0000)
        let image = try made.image()
        #expect(image.bias == 0x5000_0000)
        let inside: [UInt64] = [0x5000_1000, 0x5000_14FF]
        #expect(inside.allSatisfy(image.contains))
        let outside: [UInt64] = [
            0, 0x1000, 0x5000_0FFF, 0x5000_1500, 0x5000_8000, 0x5000_9000, .max,
        ]
        #expect(!outside.contains(where: image.contains))
    }

    /// Whole pages, as the linker protects them.
    @Test func protectedPages() throws {
        let made = MadeImage([
            MadeImage.Segment(start: 0x1000, size: 0x10000),
            MadeImage.Segment(kind: 0x6474_E552, start: 0x3DD0, size: 0x1230),
        ])
        let image = try made.image()
        let expected: [(UInt64, Bool)] = [
            (0, false), (0x2FF8, false), (0x2FFF, false), (0x3000, true), (0x3DD0, true),
            (0x4000, true), (0x4FF8, true), (0x4FF9, false), (0x5000, false), (0x8000, false),
        ]
        for (address, isProtected) in expected {
            #expect(image.isProtected(address) == isProtected, "\(address)")
        }
        // One that ends within its first page protects nothing.
        let short = MadeImage([MadeImage.Segment(kind: 0x6474_E552, start: 0x3010, size: 0x200)])
        #expect(!(try short.image().isProtected(0x3010)))
        let none = MadeImage([MadeImage.Segment(start: 0x3000, size: 0x1000)])
        #expect(!(try none.image().isProtected(0x3010)))
        #expect(!image.isProtected(.max - 3))
    }

    @Test func anySegmentsAtAll() throws {
        var random = SeededNumbers(seed: 17)
        let values: [UInt64] = [0, 1, 0xFFF, 0x1000, 1 << 47, 1 << 63, .max - 4095, .max - 1, .max]
        for _ in 0..<2000 {
            func value() -> UInt64 { values.randomElement(using: &random) ?? 0 }
            let kinds: [UInt32] = [1, 2, 6, 0x6474_E552, .max]
            let made = MadeImage(
                (0..<4).map { _ in
                    MadeImage.Segment(
                        kind: kinds.randomElement(using: &random) ?? 1,
                        flags: UInt32.random(in: 0...7, using: &random), start: value(),
                        size: value())
                }, bias: value())
            let image = try made.image()
            _ = (image.contains(value()), image.isProtected(value()), image.isExecutable(value()))
            _ = image.address(ofSymbol: "_dl_debug_state")
            let line = ProcFormats.MapsLine(
                start: 0, end: .max, isReadable: true, isExecutable: true, fileOffset: 0, inode: 0,
                path: "/a")
            if let cave = CodeCave.find(in: [image], [line], size: 64) {
                #expect(cave % 16 == 0 && (cave & 4095) + 64 <= 4096)
            }
        }
    }

    // MARK: Symbols

    private static func symbol(_ name: UInt32, section: UInt16 = 1, value: UInt64) -> [UInt8] {
        bytes(of: name) + [0x12, 0] + bytes(of: section) + bytes(of: value) + bytes(of: UInt64(0))
    }

    /// An image of one table of symbols, and of one of names behind it.
    private static func tables(
        _ symbols: [[UInt8]], _ names: [UInt8], bias: UInt64 = 0, namesSize: UInt64? = nil
    ) -> (image: MadeImage, kept: [MadeMemory]) {
        let table = MadeMemory(symbols.flatMap { $0 } + names)
        let strings = table.address + UInt64(24 * symbols.count)
        let dynamic = MadeMemory(
            ([6, table.address, 5, strings, 10, namesSize ?? UInt64(names.count), 0, 0] as [UInt64])
                .flatMap { bytes(of: $0) })
        let image = MadeImage(
            [
                MadeImage.Segment(start: table.address &- bias, size: UInt64(table.count)),
                MadeImage.Segment(
                    kind: 2, start: dynamic.address &- bias, size: UInt64(dynamic.count)),
            ], bias: bias)
        return (image, [table, dynamic])
    }

    @Test func symbolsByName() throws {
        let names = Array("\0alpha\0beta\0alphabet\0gamma".utf8)
        let (made, kept) = Self.tables(
            [
                Self.symbol(0, value: 1), Self.symbol(1, section: 0, value: 2),
                Self.symbol(12, value: 3), Self.symbol(1, value: 4), Self.symbol(1, value: 5),
                // Within another name, as linkers share them: "bet" does not end there.
                Self.symbol(7, value: .max), Self.symbol(17, value: 6),
                Self.symbol(21, value: 7), Self.symbol(.max, value: 8),
            ], names, bias: 0x100)
        try withExtendedLifetime(kept) {
            let image = try made.image()
            #expect(
                image.addresses(ofSymbols: ["alpha", "beta", "none", "alphabet", "bet", "alpha"])
                    == [0x104, 0xFF, nil, 0x103, 0x106, 0x104])
            #expect(image.addresses(ofSymbols: []) == [])
            // A symbol whose name does not end within the table.
            #expect(image.address(ofSymbol: "gamma") == nil)
            #expect(image.address(ofSymbol: "alpha") == 0x104)
        }
    }

    @Test(arguments: [0, 1, 5, 6, 7, 1 << 20, 1 << 20 + 1, .max] as [UInt64])
    func namesOfAnySize(size: UInt64) throws {
        let (made, kept) = Self.tables(
            [Self.symbol(1, value: 9)], Array("\0alpha\0".utf8), namesSize: size)
        try withExtendedLifetime(kept) {
            let found = try made.image().address(ofSymbol: "alpha")
            #expect(found == (size >= 7 && size <= 1 << 20 ? 9 : nil))
        }
    }

    @Test func damagedTables() throws {
        var random = SeededNumbers(seed: 23)
        for _ in 0..<500 {
            let (made, kept) = Self.tables(
                (0..<4).map { Self.symbol(UInt32($0), value: 1) }, Array("\0a\0b\0".utf8))
            for memory in kept {
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let place = Int.random(in: 0..<memory.count, using: &random)
                    let values: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF]
                    let value = values.randomElement(using: &random) ?? 0
                    memory.start.storeBytes(of: value, toByteOffset: place, as: UInt8.self)
                }
            }
            try withExtendedLifetime(kept) {
                let image = try made.image()
                #expect(image.addresses(ofSymbols: ["a", "b", ""]).count == 3)
                _ = DynamicLinker(image)
            }
        }
    }

    // MARK: Caves

    private static func line(
        _ range: Range<UInt64>, path: String = "/program", isExecutable: Bool = true
    ) -> ProcFormats.MapsLine {
        ProcFormats.MapsLine(
            start: range.lowerBound, end: range.upperBound, isReadable: true,
            isExecutable: isExecutable, fileOffset: 0, inode: 1, path: path)
    }

    private static func cave(
        _ segments: [MadeImage.Segment], _ lines: [ProcFormats.MapsLine], size: Int = 512
    ) throws -> UInt64? {
        CodeCave.find(in: [try MadeImage(segments).image()], lines, size: size)
    }

    private static func code(_ start: UInt64, _ size: UInt64) -> MadeImage.Segment {
        MadeImage.Segment(flags: 5, start: start, size: size)
    }

    @Test func theCodesLastPage() throws {
        let lines = [Self.line(0x40_0000..<0x40_3000)]
        let expected: [(size: UInt64, cave: UInt64?)] = [
            (0x1, 0x40_0010), (0x10, 0x40_0010), (0x11, 0x40_0020), (0x2DF1, 0x40_2E00),
            (0x2E00, 0x40_2E00), (0x2E01, nil), (0x2FFF, nil), (0x3000, nil), (0x3001, nil),
            (0x4000, nil), (0, nil), (.max, nil), (.max - 0x40_0000, nil),
        ]
        for (size, cave) in expected {
            #expect(try Self.cave([Self.code(0x40_0000, size)], lines) == cave, "\(size)")
        }
    }

    @Test func howMuchRoomThereMustBe() throws {
        let segment = Self.code(0x40_0000, 0x100)
        let lines = [Self.line(0x40_0000..<0x40_1000)]
        for (size, isFound) in [(1, true), (0xF00, true), (0xF01, false), (.max, false)] {
            #expect(try Self.cave([segment], lines, size: size) == (isFound ? 0x40_0100 : nil))
        }
    }

    /// The page must be there, with the code, from a file.
    @Test func onlyWhereItIsMapped() throws {
        let segment = Self.code(0x40_0000, 0x1100)
        let lines = [
            Self.line(0x40_0000..<0x40_1000), Self.line(0x40_1000..<0x40_2000, path: ""),
            Self.line(0x40_1000..<0x40_2000, path: "[vdso]"),
            Self.line(0x40_1000..<0x40_2000, isExecutable: false), Self.line(0x40_1110..<0x40_2000),
            Self.line(0x40_1000..<0x40_1FFF), Self.line(0x50_0000..<0x60_0000),
        ]
        for line in lines { #expect(try Self.cave([segment], [line]) == nil) }
        #expect(try Self.cave([segment], []) == nil)
        #expect(try Self.cave([segment], lines) == nil)
        #expect(
            try Self.cave([segment], lines + [Self.line(0x40_1000..<0x40_2000)]) == 0x40_1100)
    }

    @Test func theFirstThatHasRoom() throws {
        let lines = [Self.line(0x40_0000..<0x80_0000)]
        let data = MadeImage.Segment(flags: 6, start: 0x41_0000, size: 0x10)
        let other = MadeImage.Segment(kind: 2, flags: 5, start: 0x42_0000, size: 0x10)
        let full = Self.code(0x43_0000, 0xFF0)
        #expect(try Self.cave([data, other, full], lines) == nil)
        #expect(
            try Self.cave(
                [data, full, Self.code(0x44_0000, 0x10), Self.code(0x45_0000, 0x10)], lines)
                == 0x44_0010)
        let images = [
            try MadeImage([full]).image(), try MadeImage([Self.code(0x46_0000, 0x10)]).image(),
            try MadeImage([Self.code(0x47_0000, 0x10)]).image(),
        ]
        #expect(CodeCave.find(in: images, lines, size: 512) == 0x46_0010)
        #expect(CodeCave.find(in: [], lines, size: 512) == nil)
    }

    @Test(arguments: 0..<50) func cavesBelongToNobody(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        for _ in 0..<100 {
            let start = UInt64.random(in: 1...100, using: &random) << 12
            let size = UInt64.random(in: 1...0x5000, using: &random)
            let end = start + UInt64.random(in: 1...6, using: &random) << 12
            let room = Int.random(in: 1...1024, using: &random)
            guard
                let cave = try Self.cave(
                    [Self.code(start, size)], [Self.line(start..<end)], size: room)
            else {
                let rest = Int((start + size + 4095) & ~4095) - Int((start + size + 15) & ~15)
                #expect(rest < room || (start + size + 4095) & ~4095 > end)
                continue
            }
            #expect(cave % 16 == 0 && cave >= start + size && cave < start + size + 16)
            #expect(cave + UInt64(room) <= end)
            #expect((cave + UInt64(room) - 1) >> 12 == (start + size - 1) >> 12)
        }
    }
}
