import Glibc
import ProfileModel
import Symbolicate
import TestSupport
import Testing

/// The symbol cache's folder.
@Suite(.enabled(if: Tools.has("g++", "readelf"), "needs g++ and binutils"))
struct SymbolCacheTests {
    private static let source = """
        #include <map>
        #include <string>
        int main(int count, char **words) {
            std::map<std::string, int> all;
            for (int i = 0; i < count; i++) all[words[i]] = i;
            int sum = 0;
            for (auto &[name, number] : all) sum += number + int(name.size());
            return sum;
        }
        """

    /// A program, and recordings of its addresses.
    private struct Subject {
        let folder: Scratch
        let module: Module
        let range: Range<UInt64>
        var cacheFolder: String { folder.path("cache") }

        init() throws {
            folder = try Scratch()
            let program = try folder.compile(
                SymbolCacheTests.source, with: "g++", as: "program", "-g", "-O1",
                "-Wl,--build-id=sha1")
            module = Module(path: program, buildID: try folder.buildID(of: program))
            range = try #require(try folder.symbols(of: program)["main"])
        }

        func symbols(_ cache: SymbolCache?, step: Int = 1) -> [FrameAddress: [SourceFrame]] {
            let header = Recording.Header(
                pid: 1, isAttached: false, capture: .ptrace, frequency: 1000)
            var recording = Recording(header: header)
            recording.modules = [module]
            for address in stride(from: range.lowerBound, to: range.upperBound, by: step) {
                let place = FrameAddress(
                    module: ModuleIndex(0), address: CodeAddress(address, .instruction))
                _ = recording.stacks.intern(parent: nil, frame: place)
            }
            return Symbolicator(search: .none, cache: cache).symbolicate(recording).frames
        }

        var cache: SymbolCache { SymbolCache(folder: cacheFolder, leastCost: .zero) }

        func files() throws -> [Substring] { try folder.printed(by: ["ls", "-A", cacheFolder]) }
    }

    @Test func quickAnswersAreNotCached() throws {
        let subject = try Subject()
        let cache = SymbolCache(folder: subject.cacheFolder, leastCost: .milliseconds(3_600_000))
        #expect(subject.symbols(cache) == subject.symbols(nil))
        #expect(!subject.folder.names.contains("cache"))
    }

    @Test func answersAreTheSameWithIt() throws {
        let subject = try Subject()
        let plain = subject.symbols(nil)
        // A part, then all (with and without cached answers), then all from the file.
        _ = subject.symbols(subject.cache, step: 16)
        #expect(subject.symbols(subject.cache) == plain)
        #expect(subject.symbols(subject.cache) == plain)
        let file = try #require(try subject.files().first)
        // And the places in the debug information.
        #expect(try subject.files().count == 2)
        #expect(file.hasSuffix(".places"))
        let modes = try subject.folder.printed(
            by: ["stat", "-c", "%a", subject.cacheFolder, "\(subject.cacheFolder)/\(file)"])
        #expect(modes == ["700", "600"])
    }

    /// They do come from the file; and not any more once the program is another.
    @Test func answersBelongToTheFilesTheyAreOf() throws {
        let subject = try Subject()
        let plain = subject.symbols(subject.cache)
        try subject.folder.run(["cp", "-p", "program", "kept"])
        // Another source file in the debug information, of the same size, at the same time.
        var bytes = try subject.folder.read("program")
        let (name, other) = (Array("program.cpp".utf8), Array("another.cpp".utf8))
        for start in 0..<(bytes.count - name.count)
        where bytes[start] == name[0] && bytes[start...].starts(with: name) {
            bytes.replaceSubrange(start..<(start + name.count), with: other)
        }
        try subject.folder.write(bytes, to: "program")
        try subject.folder.run(["touch", "-r", "kept", "program"])
        #expect(subject.symbols(nil) != plain)
        #expect(subject.symbols(subject.cache) == plain)
        try subject.folder.run(["touch", "-d", "1 hour ago", "program"])
        #expect(subject.symbols(subject.cache) == subject.symbols(nil))
    }

    @Test func aDamagedFileIsReplaced() throws {
        let subject = try Subject()
        let plain = subject.symbols(subject.cache)
        let names = try subject.files()
        let name = try #require(names.first { $0.hasSuffix(".symbols") })
        for damage in ["", "FLSYMBOL", String(repeating: "x", count: 5000)] {
            try subject.folder.write(damage, to: "cache/\(name)")
            #expect(subject.symbols(subject.cache) == plain)
        }
        #expect(try subject.files() == names)
    }

    @Test func aFolderThatOthersMayWriteToIsNotUsed() throws {
        let subject = try Subject()
        try subject.folder.run(["mkdir", "-m", "777", subject.cacheFolder])
        _ = subject.symbols(subject.cache)
        #expect(try subject.files().isEmpty)
        // Nor is one that is somewhere else in truth.
        try subject.folder.run(["chmod", "700", subject.cacheFolder])
        try subject.folder.run(["ln", "-s", "cache", "link"])
        _ = subject.symbols(SymbolCache(folder: subject.folder.path("link"), leastCost: .zero))
        #expect(try subject.files().isEmpty)
    }

    @Test func whereNothingCanBeWrittenNothingIsKept() throws {
        let subject = try Subject()
        let plain = subject.symbols(nil)
        for path in ["/proc/self/nothing", subject.module.path, "/nowhere/at/all"] {
            #expect(subject.symbols(SymbolCache(folder: path, leastCost: .zero)) == plain)
        }
    }

    @Test func theLeastRecentlyUsedFileIsRemoved() throws {
        let subject = try Subject()
        try subject.folder.run(["mkdir", "-m", "700", subject.cacheFolder])
        let size = 1 << 20
        for (name, age) in [("old", "3 days ago"), ("older", "5 days ago"), ("new", "1 hour ago")] {
            let path = "\(subject.cacheFolder)/\(name).symbols"
            try subject.folder.run(["truncate", "-s", String(size), path])
            try subject.folder.run(["touch", "-d", age, path])
        }
        try subject.folder.run(["touch", "-d", "2 days ago", "\(subject.cacheFolder)/.new-1-x"])
        try subject.folder.run(["touch", "\(subject.cacheFolder)/foreign"])
        _ = subject.symbols(
            SymbolCache(
                folder: subject.cacheFolder, limit: size * 5 / 2, leastCost: .zero))
        let left = try subject.files()
        #expect(left.contains("new.symbols"))
        #expect(!left.contains("older.symbols"))
        #expect(!left.contains(".new-1-x"))
        #expect(left.contains("foreign"))
    }
}
