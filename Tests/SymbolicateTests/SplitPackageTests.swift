import Glibc
import ProfileModel
import Symbolicate
import TestSupport
import Testing

/// Split debug information in packages (`.dwp`).
@Suite(
    .enabled(
        if: Tools.has("g++", "clang++", "dwp", "nm", "objcopy", "python3", "readelf", "strip"),
        "needs g++, clang, binutils and python3"))
struct SplitPackageTests {
    /// Two units with functions in several pieces, inlined calls, and names that only the place in
    /// the tree tells.
    private static let sources = [
        """
        #include <string>
        #include <vector>
        volatile int sink;
        namespace {
        struct Hidden { __attribute__((noinline)) int twice(int i) { return i * 2 + sink; } };
        }
        static inline __attribute__((always_inline)) int deep(int value) {
            sink = value;
            return value + 1;
        }
        __attribute__((noinline)) int outer(int value) {
            std::vector<std::string> all;
            for (int i = 0; i < value; i++) all.push_back("a text that has to be allocated");
            if (value == 77) throw all;
            return deep(value) + Hidden().twice(int(all.size()));
        }
        """,
        """
        #include <map>
        #include <string>
        int outer(int);
        int main(int count, char **words) {
            std::map<std::string, int> all;
            for (int i = 0; i < count; i++) all[words[i]] = outer(i);
            return int(all.size());
        }
        """,
    ]

    enum Kind: CaseIterable {
        case gcc4, gcc5, clang4, clang5

        var compiler: String { self == .gcc4 || self == .gcc5 ? "g++" : "clang++" }
        var version: Int { self == .gcc4 || self == .clang4 ? 4 : 5 }
    }

    /// A program of two units that are split off.
    private struct Subject {
        let folder: Scratch
        let program: String
        let code: [UInt64]
        private let version: Int

        init(_ kind: Kind) throws {
            folder = try Scratch()
            program = folder.path("program")
            version = kind.version
            for (name, source) in zip(["first", "second"], SplitPackageTests.sources) {
                try folder.write(source, to: name + ".cpp")
                try folder.run(
                    [
                        kind.compiler, "-c", "-O2", "-g", "-gdwarf-\(version)", "-gsplit-dwarf",
                        "-ffunction-sections", name + ".cpp",
                    ])
            }
            try folder.run(
                [kind.compiler, "first.o", "second.o", "-Wl,--build-id=sha1", "-o", program])
            code = Set(try folder.symbols(of: program).values.joined()).sorted()
                .filter { $0 % 3 == 0 }
        }

        /// Packs the units' files, and takes them away.
        func pack(_ names: [String] = ["first.dwo", "second.dwo"], as package: String) throws {
            let script = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
            let tool =
                version == 4
                ? ["dwp", "-o", package]
                : ["python3", "/\(script)/Benchmarks/split_package.py", package]
            try folder.run(tool + names)
            try folder.run(["mkdir", "-p", "hidden"])
            try folder.run(["mv", "first.dwo", "second.dwo", "hidden"])
        }

        func resolver(_ search: DebugFileSearch = .none) -> ModuleResolver {
            ModuleResolver(Module(path: program), search: search)
        }

        func frames(_ search: DebugFileSearch = .none) -> [[SourceFrame]] {
            resolver(search).frames(at: code).map(Self.plain)
        }

        /// Reports the first address with a wrong answer.
        func expect(_ found: [[SourceFrame]], toBe expected: [[SourceFrame]]) {
            #expect(found.count == expected.count)
            let first = code.indices.first { found[$0] != expected[$0] }
            guard let first else { return }
            #expect(found[first] == expected[first], "at \(String(code[first], radix: 16))")
        }

        func framesByLibdw() -> [[SourceFrame]] {
            let resolver = resolver()
            return code.map { Self.plain(resolver.framesByLibdw(at: $0)) }
        }

        /// Without the linker's names, of which several read alike: by way of libdw they are not
        /// known then.
        private static func plain(_ frames: [SourceFrame]) -> [SourceFrame] {
            frames.map { frame in
                var frame = frame
                frame.linkageName = nil
                return frame
            }
        }
    }

    /// Without any help of a library: our answers from the package are libdw's answers from the
    /// `.dwo` files.
    @Test(arguments: Kind.allCases)
    func packagesAreReadAsTheirFiles(kind: Kind) throws {
        let subject = try Subject(kind)
        let expected = subject.framesByLibdw()
        // GCC gives it no linkage name.
        #expect(
            expected.contains { frames in
                let names = frames.map(\.function)
                return names == ["outer(int)", "deep"] || names == ["outer(int)", "deep(int)"]
            })
        subject.expect(subject.frames(), toBe: expected)
        try subject.pack(as: "program.dwp")
        subject.expect(subject.frames(), toBe: expected)
        #expect(subject.resolver().summary.remarks.isEmpty)
        // They do come from there.
        try subject.folder.run(["rm", "program.dwp"])
        #expect(subject.frames() != expected)
        #expect(subject.resolver().summary.remarks.map(\.kind) == [.missingSplitFile])
    }

    /// Beside the debug file, whose `.debug` may be left out, or beside the program.
    @Test(arguments: ["debug/other.debug.dwp", "debug/other.dwp", "program.dwp"])
    func packagesLieBesideDebugFiles(place: String) throws {
        let subject = try Subject(.gcc5)
        let expected = subject.framesByLibdw()
        let folder = subject.folder
        try folder.run(["mkdir", "-p", "debug\(folder.folder)"])
        try folder.run(["objcopy", "--only-keep-debug", "program", "debug/other.debug"])
        try folder.run(["strip", "program"])
        try folder.run(
            ["objcopy", "--add-gnu-debuglink=debug/other.debug", "program"])
        try folder.run(
            ["ln", "-s", folder.path("debug/other.debug"), "debug\(folder.folder)/other.debug"])
        try subject.pack(as: place)
        let search = DebugFileSearch(debugDirectories: [folder.path("debug")])
        subject.expect(subject.frames(search), toBe: expected)
        #expect(subject.resolver(search).summary.remarks.isEmpty)
    }

    @Test func packedSectionsAreUnpacked() throws {
        let subject = try Subject(.clang5)
        let expected = subject.framesByLibdw()
        try subject.pack(as: "plain")
        try subject.folder.run(
            ["objcopy", "--compress-debug-sections=zlib-gabi", "plain", "program.dwp"])
        #expect(subject.frames() == expected)
    }

    @Test func missingPackagesAreNamed() throws {
        let subject = try Subject(.gcc5)
        func remarks() -> [ModuleRemark] { subject.resolver().summary.remarks }
        try subject.pack(["first.dwo"], as: "program.dwp")
        #expect(remarks() == [ModuleRemark(.missingSplitFile, "second.dwo")])
        let package = subject.program + ".dwp"
        let bytes = try subject.folder.read("program.dwp")
        let index = try #require(try subject.folder.section(".debug_cu_index", of: package))
        // Its only id is another one.
        var other = bytes
        for place in index.dropFirst(16).prefix(16) { other[place] ^= 1 }
        try subject.folder.write(other, to: "program.dwp")
        #expect(remarks() == [ModuleRemark(.otherDebugFile, package)])
        var unknown = bytes
        unknown[index.lowerBound] = 6
        for content in [unknown, Array(bytes[..<1000]), Array("no package".utf8)] {
            try subject.folder.write(content, to: "program.dwp")
            #expect(remarks() == [ModuleRemark(.unreadPackage, package)])
            #expect(subject.frames().count == subject.code.count)
        }
    }

    // MARK: - Hostile ones

    /// What a word of the index may be made to be: places outside, counts that overflow, hash
    /// tables without an end.
    private static let extremes: [UInt32] = [
        0, 1, 2, 3, 5, 64, 65, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF,
    ]

    @Test(arguments: [Kind.gcc4, .gcc5])
    func eachWordOfTheIndexMayBeWrong(kind: Kind) throws {
        let subject = try Subject(kind)
        try subject.pack(as: "program.dwp")
        let bytes = try subject.folder.read("program.dwp")
        let index = try #require(
            try subject.folder.section(".debug_cu_index", of: subject.program + ".dwp"))
        let some = Array(subject.code.prefix(40))
        for place in stride(from: index.lowerBound, to: index.upperBound - 3, by: 4) {
            for word in Self.extremes {
                var changed = bytes
                withUnsafeBytes(of: word) { changed.replaceSubrange(place..<(place + 4), with: $0) }
                try subject.folder.write(changed, to: "program.dwp")
                let frames = subject.resolver().frames(at: some)
                #expect(frames.allSatisfy { !$0.isEmpty })
            }
        }
    }

    /// A hash table without an empty slot, all of whose entries are another unit's: probing it
    /// would go round for ever.
    @Test func aHashTableWithoutAnEnd() throws {
        let subject = try Subject(.gcc5)
        try subject.pack(as: "program.dwp")
        let package = subject.program + ".dwp"
        var bytes = try subject.folder.read("program.dwp")
        let index = try #require(try subject.folder.section(".debug_cu_index", of: package))
        let slots = Int(bytes[index.lowerBound + 12])
        for slot in 0..<slots {
            let id = index.lowerBound + 16 + 8 * slot
            let row = index.lowerBound + 16 + 8 * slots + 4 * slot
            bytes.replaceSubrange(id..<(id + 8), with: [UInt8](repeating: 7, count: 8))
            bytes.replaceSubrange(row..<(row + 4), with: [1, 0, 0, 0])
        }
        try subject.folder.write(bytes, to: "program.dwp")
        #expect(subject.resolver().summary.remarks == [ModuleRemark(.otherDebugFile, package)])
        #expect(subject.frames().allSatisfy { $0.count == 1 })
    }

    @Test(arguments: Kind.allCases)
    func mutatedPackages(kind: Kind) throws {
        let subject = try Subject(kind)
        try subject.pack(as: "program.dwp")
        let original = try subject.folder.read("program.dwp")
        let some = Array(subject.code.prefix(200))
        var numbers = SeededNumbers(seed: 815)
        for round in 0..<40 {
            var bytes = original
            if round % 4 == 0 {
                bytes.removeLast(Int.random(in: 1..<bytes.count, using: &numbers))
            } else {
                for _ in 0..<Int.random(in: 1...400, using: &numbers) {
                    let place = Int.random(in: 64..<bytes.count, using: &numbers)
                    bytes[place] = UInt8.random(in: 0...255, using: &numbers)
                }
            }
            try subject.folder.write(bytes, to: "program.dwp")
            let frames = subject.resolver().frames(at: some)
            #expect(frames.allSatisfy { !$0.isEmpty })
        }
    }

    /// Answers from a package that a build overwrites in the meantime do not count.
    @Test func aPackageThatIsCutShortMeanwhile() throws {
        let subject = try Subject(.gcc5)
        try subject.pack(as: "program.dwp")
        let resolver = subject.resolver()
        #expect(truncate(subject.program + ".dwp", 0) == 0)
        #expect(!resolver.frames(at: subject.code).isEmpty)
        #expect(resolver.lostBytes)
    }
}
