import Glibc
import ProfileModel
import Symbolicate
import TestSupport
import Testing

/// The cache also keeps places in the debug information: the answers for addresses that are looked
/// up for the first time are the same with it.
@Suite(.enabled(if: Tools.has("g++", "readelf"), "needs g++ and binutils"))
struct DebugPlacesTests {
    /// Functions that have no linkage name, in namespaces, classes and other functions; and templates.
    private static let source = """
        #include <cstdio>
        #include <functional>
        #include <map>
        #include <string>
        namespace {
        struct Hidden {
            struct Inner { __attribute__((noinline)) int twice(int i) { return i * 2 + puts("x"); } };
        };
        __attribute__((noinline)) int local(int i) { return Hidden::Inner().twice(i) + 1; }
        }
        namespace outer { namespace {
        static inline int folded(int i) { return i * puts("folded"); }
        } int visible(int i) { return folded(i) + local(i); } }
        int methods(int i) {
            struct Local {
                __attribute__((noinline)) int run(int i) {
                    struct Deeper { __attribute__((noinline)) int go(int i) { return i + puts("d"); } };
                    return Deeper().go(i) * 2;
                }
            };
            auto lambda = [i](int more) __attribute__((noinline)) { return i + more + puts("l"); };
            return Local().run(i) + lambda(i);
        }
        int main(int count, char **words) {
            std::map<std::string, std::function<int(int)>> all;
            for (int i = 0; i < count; i++) all[words[i]] = [i](int more) { return i + more; };
            int sum = methods(count);
            for (auto &[name, function] : all) sum += function(int(name.size()));
            return sum + outer::visible(count);
        }
        """

    /// A program, and recordings of its addresses.
    private struct Subject {
        let folder: Scratch
        let module: Module
        let code: [Range<UInt64>]

        init(_ options: String...) throws {
            folder = try Scratch()
            let program = folder.path("program")
            try folder.write(DebugPlacesTests.source, to: "program.cpp")
            try folder.run(
                ["g++", "program.cpp", "-o", program, "-g", "-std=c++17", "-Wl,--build-id=sha1"]
                    + options)
            module = Module(path: program, buildID: try folder.buildID(of: program))
            code = try folder.symbols(of: program).sorted { $0.key < $1.key }.map(\.value)
                .filter { $0.count < 1 << 16 }
        }

        /// - Parameter functions: which of the program's, those of these numbers.
        func symbols(
            _ cache: SymbolCache?, functions: StrideTo<Int>? = nil
        ) -> [FrameAddress: [SourceFrame]] {
            var recording = Recording(
                header: Recording.Header(
                    pid: 1, isAttached: false, capture: .ptrace, frequency: 1000))
            recording.modules = [module]
            for number in functions ?? stride(from: 0, to: code.count, by: 1) {
                for address in stride(
                    from: code[number].lowerBound, to: code[number].upperBound, by: 61)
                {
                    let place = FrameAddress(
                        module: ModuleIndex(0), address: CodeAddress(address, .instruction))
                    _ = recording.stacks.intern(parent: nil, frame: place)
                }
            }
            return Symbolicator(search: .none, cache: cache).symbolicate(recording).frames
        }

        var cache: SymbolCache { SymbolCache(folder: folder.path("cache"), leastCost: .zero) }

        func cached(_ suffix: String) throws -> String? {
            try folder.printed(by: ["ls", "-A", folder.path("cache")])
                .first { $0.hasSuffix(suffix) }.map { "cache/\($0)" }
        }

        func remove(_ suffix: String) throws {
            if let name = try cached(suffix) { try folder.run(["rm", name]) }
        }
    }

    @Test(arguments: ["-O0", "-O2", "-gdwarf-4", "-ffunction-sections", "-gsplit-dwarf"])
    func othersAreAnsweredAlike(option: String) throws {
        let subject = try Subject("-O1", option)
        let plain = subject.symbols(nil)
        #expect(
            plain.values.joined().contains {
                $0.function?.hasPrefix("methods(int)::") ?? false
                    || $0.function?.contains("(anonymous namespace)::Hidden::Inner::twice") ?? false
            })
        // One function in 16; then all of them, with nothing but the places known.
        let few = stride(from: 0, to: subject.code.count, by: 16)
        let first = subject.symbols(subject.cache, functions: few)
        #expect(first == plain.filter { first[$0.key] != nil })
        #expect(try subject.cached(".places") != nil)
        #expect(try subject.cached(".sections") == nil)
        try subject.remove(".symbols")
        #expect(subject.symbols(subject.cache) == plain)
        // And one after another, which puts answers behind answers.
        try subject.remove(".symbols")
        for part in 0..<18 {
            let own = stride(from: part, to: subject.code.count, by: 18)
            let found = subject.symbols(subject.cache, functions: own)
            #expect(found == plain.filter { found[$0.key] != nil })
        }
        #expect(subject.symbols(subject.cache) == plain)
    }

    @Test(arguments: ["-gz=zlib", "-gz=zlib-gnu"])
    func packedSectionsAreKeptUnpacked(option: String) throws {
        let subject = try Subject("-O1", option)
        let plain = subject.symbols(nil)
        #expect(subject.symbols(subject.cache) == plain)
        #expect(try subject.cached(".sections") != nil)
        try subject.remove(".symbols")
        #expect(subject.symbols(subject.cache) == plain)
        // They do come from there: the file's own cannot be unpacked any more.
        let bytes = try subject.folder.read("program")
        try subject.folder.run(["cp", "-p", "program", "kept"])
        let name = option == "-gz=zlib" ? ".debug_info" : ".zdebug_info"
        let section = try #require(try subject.folder.section(name, of: "program"))
        var damaged = bytes
        for index in section.dropFirst(64) { damaged[index] = 0xFF }
        try subject.folder.write(damaged, to: "program")
        try subject.folder.run(["touch", "-r", "kept", "program"])
        #expect(subject.symbols(nil) != plain)
        try subject.remove(".symbols")
        #expect(subject.symbols(subject.cache) == plain)
    }

    /// Facts learned from a package serve the next lookups. When it appears, changes or goes,
    /// earlier answers do not count.
    @Test(.enabled(if: Tools.has("dwp"), "needs binutils' dwp"))
    func packagesAreKnownAndNoticed() throws {
        let subject = try Subject("-O1", "-gdwarf-4", "-gsplit-dwarf")
        let folder = subject.folder
        let plain = subject.symbols(nil)
        #expect(subject.symbols(subject.cache) == plain)
        try subject.remove(".symbols")
        try folder.run(["dwp", "-o", "package", "program.dwo"])
        try folder.run(["rm", "program.dwo"])
        let bare = subject.symbols(subject.cache)
        #expect(bare != plain)
        // A file that is missing may appear.
        #expect(try subject.cached(".symbols") == nil)
        try folder.run(["cp", "package", "program.dwp"])
        #expect(subject.symbols(subject.cache) == plain)
        #expect(try subject.cached(".symbols") != nil)
        try subject.remove(".symbols")
        #expect(subject.symbols(subject.cache) == plain)
        let names = try #require(
            try folder.section(".debug_str.dwo", of: folder.path("program.dwp")))
        var changed = try folder.read("program.dwp")
        for index in names where changed[index] == UInt8(ascii: "o") {
            changed[index] = UInt8(ascii: "0")
        }
        try folder.write(changed, to: "program.dwp")
        let other = subject.symbols(subject.cache)
        #expect(other != plain && other != bare)
        try folder.run(["rm", "program.dwp"])
        #expect(subject.symbols(subject.cache) == bare)
    }

    @Test(arguments: [".places", ".sections"])
    func damagedFilesCountAsNone(suffix: String) throws {
        let subject = try Subject("-O1", "-gz=zlib")
        let plain = subject.symbols(subject.cache)
        let name = try #require(try subject.cached(suffix))
        let bytes = try subject.folder.read(name)
        for index in stride(from: 0, to: bytes.count, by: bytes.count / 4 + 1) {
            var damaged = bytes
            damaged[index] ^= 4
            try subject.folder.write(damaged, to: name)
            try subject.remove(".symbols")
            #expect(subject.symbols(subject.cache) == plain)
            try subject.folder.write(Array(bytes[..<index]), to: name)
            try subject.remove(".symbols")
            #expect(subject.symbols(subject.cache) == plain)
        }
    }

    /// With a digest that is right, too: a forged file must not crash us.
    @Test(arguments: [".places", ".sections"])
    func madeUpFilesAreRead(suffix: String) throws {
        let subject = try Subject("-O1", "-gz=zlib")
        let few = stride(from: 0, to: subject.code.count, by: 16)
        let answered = subject.symbols(subject.cache, functions: few).keys
        let name = try #require(try subject.cached(suffix))
        let bytes = try subject.folder.read(name)
        var numbers = SeededNumbers(seed: 1)
        for _ in 0..<15 {
            try subject.folder.write(Forgery.of(bytes, using: &numbers), to: name)
            try subject.remove(".symbols")
            #expect(subject.symbols(subject.cache, functions: few).keys == answered)
        }
    }
}
