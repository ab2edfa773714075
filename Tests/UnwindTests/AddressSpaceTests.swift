import Glibc
import ProfileModel
import TestSupport
import Testing

@testable import Unwind

@Suite struct AddressSpaceTests {
    private static let now = MonotonicTime(nanoseconds: 42)

    private static func update(
        _ space: inout AddressSpace, _ code: [CodeMapping], alternatives: [String] = []
    ) -> [Mapping] {
        space.update(code, at: now) { _ in alternatives }.added
    }

    private static func anonymous(_ start: UInt64, _ end: UInt64) -> CodeMapping {
        CodeMapping(start: start, end: end, fileOffset: 0, path: "", inode: 0)
    }

    @Test func aFileThatIsThere() throws {
        let scratch = try Scratch()
        let path = try scratch.write(readBytes("/bin/true"), to: "a program")
        let segment = try CodeSegment(readBytes(path))
        var space = AddressSpace()
        let mapping = segment.mapping(at: 0x5555_0000_0000, path: path, inode: inode(of: path))
        let added = Self.update(&space, [mapping])
        #expect(added.count == 1)
        #expect(added.first?.module == ModuleIndex(0))
        #expect(added.first?.time == Self.now)
        #expect(added.first?.start == mapping.start && added.first?.end == mapping.end)
        let pageAddress = segment.address & ~4095
        #expect(added.first?.bias == mapping.start - pageAddress)
        #expect(space.ranges.first?.tables != nil)

        let note = try scratch.printed(by: ["readelf", "-n", path])
            .first { $0.contains("Build ID:") }
        let digits = try #require(note?.split(separator: " ").last)
        let buildID = space.modules.first?.buildID ?? []
        #expect(
            buildID.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == String(digits))
    }

    @Test func onlyNewMappingsAreReported() throws {
        let path = "/bin/true"
        let segment = try CodeSegment(readBytes(path))
        let first = segment.mapping(at: 0x10_0000, path: path, inode: inode(of: path))
        let second = segment.mapping(at: 0x80_0000, path: path, inode: inode(of: path))
        var space = AddressSpace()
        #expect(Self.update(&space, [first]).count == 1)
        #expect(Self.update(&space, [first]).isEmpty)
        #expect(Self.update(&space, [first, second]).map(\.start) == [0x80_0000])
        #expect(Self.update(&space, [second]).isEmpty)
        #expect(space.ranges.map(\.start) == [0x80_0000])
        // Unmapped meanwhile.
        #expect(Self.update(&space, [first]).map(\.start) == [0x10_0000])
        #expect(Self.update(&space, []).isEmpty)
        #expect(space.ranges.isEmpty)
        #expect(space.modules.count == 1)
    }

    /// Memory that has taken the place of a file's code, and has its bytes, is that code. Memory
    /// beside it in the same mapping is not.
    @Test(arguments: ["", "/anon_hugepage (deleted)", "/memfd:text (deleted)"], [true, false])
    func codeThatWasMoved(name: String, isMappedYet: Bool) throws {
        let path = "/bin/bash"
        let bytes = readBytes(path)
        let segment = try CodeSegment(bytes)
        let file = segment.mapping(at: 0x5555_0000_0000, path: path, inode: inode(of: path))
        var (first, last) = (file, file)
        first.end = file.start + 0x1000
        last.start = file.end - 0x1000
        last.fileOffset += last.start - file.start
        var memory = Self.anonymous(first.end, last.start)
        memory.path = name
        let rest = isMappedYet ? [first, memory, last] : [memory]
        func read(_ address: UInt64, _ count: Int) -> [UInt8]? {
            let offset = Int(file.fileOffset + (address - file.start))
            return Array(bytes[offset..<offset + count])
        }
        func ranges(_ read: (UInt64, Int) -> [UInt8]?) -> AddressSpace {
            var space = AddressSpace()
            _ = space.update([file], at: Self.now)
            _ = space.update(rest, at: Self.now, memory: read)
            return space
        }
        let moved = ranges(read)
        let position = isMappedYet ? 1 : 0
        #expect(moved.modules.map(\.path) == [path])
        #expect(moved.ranges.count == rest.count)
        let bias = file.start - (segment.address & ~4095)
        #expect(moved.ranges[position].module == ModuleIndex(0))
        #expect(moved.ranges[position].bias == bias)
        #expect(moved.ranges[position].start == memory.start)
        #expect(moved.ranges[position].end == memory.end)
        // Once the process has ended, the recorder cannot read the memory that it recognised
        // before.
        var later = moved
        let other = Self.anonymous(0x1000, 0x2000)
        _ = later.update([other] + rest, at: Self.now)
        #expect(later.ranges[position + 1].module == ModuleIndex(0))
        // Other memory has had the place in the meantime.
        _ = later.update([other], at: Self.now)
        _ = later.update(rest, at: Self.now)
        #expect(later.ranges[position].module != ModuleIndex(0))
        // Other bytes, or none that can be read.
        for other in [
            { (_: UInt64, count: Int) in [UInt8](repeating: 0x90, count: count) }, { _, _ in nil },
        ]
            as [(UInt64, Int) -> [UInt8]?]
        {
            #expect(ranges(other).ranges[position].module != ModuleIndex(0))
        }
        // The kernel joins mappings that are alike.
        memory.start = file.start
        memory.end = file.end + 0x3000
        var space = AddressSpace()
        _ = space.update([file], at: Self.now)
        let parts = space.update([memory], at: Self.now) { _ in
            []
        } memory: {
            read($0, $1)
        }
        #expect(space.ranges.map(\.start) == [file.start, file.end])
        #expect(space.ranges.map(\.end) == [file.end, memory.end])
        #expect(space.ranges.first?.module == ModuleIndex(0))
        #expect(parts.added.count == (name.isEmpty ? 0 : 1))
    }

    @Test func codeWithoutAFile() {
        var space = AddressSpace()
        var other = Self.anonymous(0x3000, 0x4000)
        other.path = "//anon"
        #expect(Self.update(&space, [Self.anonymous(0x1000, 0x2000), other]).isEmpty)
        #expect(space.ranges.map(\.module) == [nil, nil])
        #expect(space.ranges.map(\.bias) == [0, 0])
        #expect(space.modules.isEmpty)
        #expect(space.isCode(0x1000) && space.isCode(0x3FFF))
    }

    @Test func theVDSOIsOurOwn() throws {
        var space = AddressSpace()
        let vdso = CodeMapping(
            start: 0x7FFF_0000_0000, end: 0x7FFF_0000_2000, fileOffset: 0, path: "[vdso]", inode: 0)
        let added = Self.update(&space, [vdso])
        #expect(added.first?.bias == 0x7FFF_0000_0000)
        #expect(space.modules.first?.buildID.count == 20)
        #expect(space.ranges.first?.tables != nil)
    }

    /// Offsets in the file stand for addresses where its headers cannot be read.
    @Test(arguments: ["text", "missing", "folder", "short", ""])
    func filesOtherThanELF(name: String) throws {
        let scratch = try Scratch()
        try scratch.write("#!/bin/sh\n", to: "text")
        try scratch.write([0x7F, 0x45, 0x4C, 0x46], to: "short")
        mkdir(scratch.path("folder"), 0o700)
        var space = AddressSpace()
        let mapping = CodeMapping(
            start: 0x10_0000, end: 0x20_0000, fileOffset: 0x3000, path: scratch.path(name),
            inode: inode(of: scratch.path(name)))
        let added = Self.update(&space, [mapping])
        #expect(added.first?.bias == 0x10_0000 - 0x3000)
        #expect(space.modules.map(\.buildID) == [[]])
        #expect(space.isCode(0x18_0000))
        _ = space.ranges.first?.tables?.rule(at: 0x1000)
    }

    @Test func aDeletedFileIsFoundByItsOtherPath() throws {
        let scratch = try Scratch()
        let kept = try scratch.write(readBytes("/bin/true"), to: "kept")
        let segment = try CodeSegment(readBytes(kept))
        let mapping = segment.mapping(
            at: 0x10_0000, path: scratch.path("gone") + " (deleted)", inode: inode(of: kept))
        var space = AddressSpace()
        _ = Self.update(&space, [mapping])
        #expect(space.modules.map(\.buildID) == [[]])
        var other = AddressSpace()
        _ = Self.update(&other, [mapping], alternatives: ["/nonexistent", kept])
        #expect(other.modules.first?.buildID.isEmpty == false)
        #expect(other.modules.first?.path == mapping.path)
    }

    /// The build id says which file was mapped, where it is known; then inodes do not count.
    @Test func aFileWithAnotherBuildIDIsNotTheOneThatWasMapped() throws {
        let scratch = try Scratch()
        let path = try scratch.write(readBytes("/bin/true"), to: "program")
        let segment = try CodeSegment(readBytes(path))
        var mapping = segment.mapping(at: 0x10_0000, path: path, inode: inode(of: path) + 1)
        var space = AddressSpace()
        _ = Self.update(&space, [segment.mapping(at: 0x10_0000, path: path, inode: 0)])
        let buildID = try #require(space.modules.first?.buildID)
        for (known, isTheSame) in [(buildID, true), (buildID.reversed(), false)] {
            mapping.buildID = known
            var space = AddressSpace()
            _ = Self.update(&space, [mapping])
            #expect(space.isReadable(ModuleIndex(0)) == isTheSame)
            #expect((space.ranges.first?.tables != nil) == isTheSame)
            #expect(space.modules.first?.buildID == known)
        }
    }

    /// An update replaced the file while the process ran: its tables would be wrong.
    @Test func aReplacedFileIsNotTheOneThatWasMapped() throws {
        let scratch = try Scratch()
        let path = try scratch.write(readBytes("/bin/true"), to: "program")
        let mapped = inode(of: path)
        rename(path, scratch.path("older"))
        try scratch.write(readBytes("/bin/cat"), to: "program")
        try #require(inode(of: path) != mapped)
        let segment = try CodeSegment(readBytes(scratch.path("older")))
        let mapping = segment.mapping(at: 0x10_0000, path: path, inode: mapped)
        var space = AddressSpace()
        _ = Self.update(&space, [mapping])
        #expect(space.modules.map(\.buildID) == [[]])
        #expect(space.ranges.first?.tables == nil)
        var other = AddressSpace()
        _ = Self.update(&other, [mapping], alternatives: [path, scratch.path("older")])
        #expect(other.ranges.first?.tables != nil)
        // Both at once are two modules.
        let newer = try CodeSegment(readBytes(path))
            .mapping(at: 0x80_0000, path: path, inode: inode(of: path))
        _ = Self.update(&other, [mapping, newer])
        #expect(other.modules.count == 2)
        #expect(Set(other.modules.map(\.buildID)).count == 2)
    }

    @Test func addressesAtTheBorders() {
        var space = AddressSpace()
        _ = Self.update(
            &space,
            [
                Self.anonymous(0x1000, 0x2000), Self.anonymous(0x2000, 0x3000),
                Self.anonymous(0x5000, .max),
            ])
        let table: [(UInt64, Int?)] = [
            (0, nil), (0xFFF, nil), (0x1000, 0), (0x1FFF, 0), (0x2000, 1), (0x2FFF, 1),
            (0x3000, nil), (0x4FFF, nil), (0x5000, 2), (.max - 1, 2), (.max, nil),
        ]
        for (address, index) in table { #expect(space.rangeIndex(around: address) == index) }
        #expect(AddressSpace().rangeIndex(around: 0x1000) == nil)
    }

    @Test func hostileListsStayAscendingAndDisjoint() {
        var random = SeededNumbers(seed: 29)
        for _ in 0..<500 {
            var space = AddressSpace()
            let list = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                let values: [UInt64] = [0, 1, .max, .max - 1]
                func address() -> UInt64 {
                    Bool.random(using: &random)
                        ? UInt64.random(in: 0...20, using: &random) * 4096
                        : values.randomElement(using: &random) ?? 0
                }
                return CodeMapping(
                    start: address(), end: address(), fileOffset: address(),
                    path: Bool.random(using: &random) ? "" : "/nonexistent",
                    inode: address())
            }
            _ = Self.update(&space, list)
            let ranges = space.ranges
            #expect(ranges.allSatisfy { $0.start < $0.end })
            #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.end <= $1.start })
            for range in ranges {
                #expect(space.isCode(range.start) && space.isCode(range.end - 1))
            }
        }
    }
}
