import ELF
import Glibc
import ProfileModel
import Symbolicate
import TestSupport
import Testing

/// Separate debug files: found where they should be, and used only if they belong.
@Suite(.enabled(if: Tools.has("gcc", "objcopy", "strip", "readelf"), "needs gcc and binutils"))
struct DebugFileTests {
    static let source = """
        volatile int sink;
        static __attribute__((noinline)) int secret(int value) { sink = value; return value + 1; }
        int main(int count, char **words) { return secret(count) + secret(count + 1); }
        """

    /// A stripped program, and the debug file that was split off it.
    private struct Subject {
        let folder: Scratch
        var program: String { folder.path("program") }
        var debugFile: String { folder.path("program.debug") }
        let buildID: [UInt8]
        let secret: UInt64

        init(buildID option: String = "sha1") throws {
            folder = try Scratch()
            let program = try folder.compile(
                DebugFileTests.source, with: "gcc", as: "program", "-O1", "-g",
                "-Wl,--build-id=\(option)")
            secret = try #require(try folder.address(of: "secret", in: program))
            buildID = try folder.buildID(of: program)
            try folder.run(["objcopy", "--only-keep-debug", program, "program.debug"])
            try folder.run(["strip", program])
        }

        func link() throws {
            try folder.run(
                ["objcopy", "--add-gnu-debuglink=program.debug", program])
        }

        /// Where the debug file lies by build id, below the debug directory `debug`.
        func pathByBuildID() -> String {
            let digits = buildID.map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }
            return folder.path(
                "debug/.build-id/\(digits[0])/\(digits.dropFirst().joined()).debug")
        }

        func move(to path: String) throws {
            let target = path.split(separator: "/").dropLast().joined(separator: "/")
            try folder.run(["mkdir", "-p", "/" + target])
            try folder.run(["mv", "program.debug", path])
        }

        func resolver(buildID: [UInt8]? = nil) -> ModuleResolver {
            let module = Module(path: program, buildID: buildID ?? self.buildID)
            let search = DebugFileSearch(debugDirectories: [folder.path("debug")])
            return ModuleResolver(module, search: search)
        }

        /// Whether the resolver has the facts that only the debug file contains.
        func isResolved(_ resolver: ModuleResolver) -> Bool {
            let frames = resolver.frames(at: secret)
            return frames.map(\.function) == ["secret"] && frames[0].line == 2
                && frames[0].file == folder.path("program.c")
        }
    }

    @Test func withoutItAStrippedProgramHasNoNames() throws {
        let subject = try Subject()
        let resolver = subject.resolver()
        let unknown = SourceFrame(function: nil, file: nil, line: nil, isInlined: false)
        #expect(resolver.frames(at: subject.secret) == [unknown])
        #expect(resolver.summary.debugInfoPath == nil)
    }

    @Test func foundByBuildID() throws {
        let subject = try Subject()
        try subject.move(to: subject.pathByBuildID())
        let resolver = subject.resolver()
        #expect(subject.isResolved(resolver))
        #expect(resolver.summary.debugInfoPath == subject.pathByBuildID())
        #expect(resolver.summary.hasSymbols)
    }

    @Test(arguments: ["program.debug", ".debug/program.debug", "debug%/program.debug"])
    func foundByLink(place: String) throws {
        let subject = try Subject()
        try subject.link()
        // `%`: the program's own folder, below the debug directory.
        let parts = place.split(separator: "%")
        let path =
            parts.count == 2
            ? subject.folder.path("debug") + subject.folder.folder + parts[1]
            : subject.folder.path(place)
        if path != subject.debugFile { try subject.move(to: path) }
        let resolver = subject.resolver()
        #expect(subject.isResolved(resolver))
        #expect(resolver.summary.debugInfoPath == path)
    }

    @Test func noneIsSearchedForWhenNoneIsWanted() throws {
        let subject = try Subject()
        try subject.link()
        let resolver = ModuleResolver(Module(path: subject.program), search: .none)
        #expect(resolver.summary.debugInfoPath == nil)
    }

    @Test func aLinkedFileOfAnotherChecksumIsRefused() throws {
        let subject = try Subject()
        try subject.link()
        let bytes = try subject.folder.read("program.debug")
        try subject.folder.write(bytes + [0], to: "program.debug")
        #expect(subject.resolver().summary.debugInfoPath == nil)
        try subject.folder.write(bytes, to: "program.debug")
        #expect(subject.resolver().summary.debugInfoPath == subject.debugFile)
    }

    @Test func aLinkedFileWithoutBuildIDsIsKnownByItsChecksum() throws {
        let subject = try Subject(buildID: "none")
        try subject.link()
        #expect(subject.buildID.isEmpty)
        #expect(subject.isResolved(subject.resolver()))
    }

    @Test func aDebugFileOfAnotherBuildIDIsRefused() throws {
        let subject = try Subject()
        let other = try Subject(buildID: "0x0123456789abcdef0123456789abcdef01234567")
        let path = subject.pathByBuildID()
        try other.move(to: path)
        #expect(subject.resolver().summary.debugInfoPath == nil)
        #expect(subject.resolver().summary.remarks == [ModuleRemark(.otherDebugFile, path)])
    }

    /// The link and its checksum are right, but the program says that it is another.
    @Test func aLinkedFileOfAnotherBuildIDIsRefused() throws {
        let subject = try Subject()
        let other = try Subject(buildID: "0x0123456789abcdef0123456789abcdef01234567")
        try subject.folder.run(["cp", other.debugFile, subject.debugFile])
        try subject.link()
        #expect(subject.resolver().summary.debugInfoPath == nil)
    }

    @Test func aReplacedModuleIsNotUsed() throws {
        let folder = try Scratch()
        let program = try folder.compile(Self.source, with: "gcc", as: "program", "-O1", "-g")
        let secret = try #require(try folder.address(of: "secret", in: program))
        var buildID = try folder.buildID(of: program)
        #expect(
            ModuleResolver(Module(path: program, buildID: buildID)).frames(at: secret)[0].function
                == "secret")
        buildID[3] ^= 1
        let resolver = ModuleResolver(Module(path: program, buildID: buildID), search: .none)
        #expect(resolver.problem == .otherBuildID)
        #expect(resolver.summary == ModuleSymbols(remarks: [ModuleRemark(.otherBuildID)]))
        #expect(resolver.frames(at: secret).map(\.function) == [nil])
    }

    @Test func aReplacedModulesDebugFileStillAnswers() throws {
        let subject = try Subject()
        try subject.move(to: subject.pathByBuildID())
        try subject.folder.write([1, 2, 3], to: "program")
        let resolver = subject.resolver()
        #expect(resolver.problem == .notUsable)
        #expect(subject.isResolved(resolver))
    }

    @Test func aLinkThatLeadsElsewhereIsNotFollowed() throws {
        let subject = try Subject()
        try subject.link()
        var bytes = try subject.folder.read("program")
        let name = Array("program.debug".utf8)
        let position = try #require(
            bytes.indices.dropLast(name.count).first {
                bytes[$0..<($0 + name.count)].elementsEqual(name)
            })
        // "program.debug" becomes "sub/../.debug": the same file, reached through folders.
        bytes.replaceSubrange(position..<(position + name.count), with: Array("sub/../.debug".utf8))
        try subject.folder.write(bytes, to: "program")
        try subject.folder.run(["mkdir", "sub"])
        try subject.folder.run(["mv", "program.debug", ".debug"])
        #expect(subject.resolver().summary.debugInfoPath == nil)
    }

    /// `dwz` moves what two programs' debug information shares into a third file.
    @Test(.enabled(if: Tools.has("dwz"), "needs dwz"))
    func aCommonFileAnswers() throws {
        let folder = try Scratch()
        let shared = (0..<40).map { "struct S\($0) { int a\($0), b\($0); struct S\($0) *next; };" }
        var programs: [String] = []
        for name in ["one", "two"] {
            let source =
                shared.joined(separator: "\n") + "\n"
                + (0..<40).map { "struct S\($0) s\($0);" }.joined() + "\n" + Self.source
            let program = try folder.compile(source, with: "gcc", as: name, "-O2", "-g")
            programs.append(program)
        }
        let secret = try #require(try folder.address(of: "secret", in: programs[0]))
        try folder.run(
            ["dwz", "-m", "common", "-M", folder.path("common"), "one", "two"])
        let module = Module(path: programs[0])
        func resolver() -> ModuleResolver { ModuleResolver(module, search: DebugFileSearch()) }
        #expect(
            try folder.printed(by: ["readelf", "-SW", "one"]).contains { $0.contains("altlink") })
        let expected = resolver().frames(at: secret)
        #expect(expected.map(\.function) == ["secret"])
        #expect(expected[0].line != nil)
        #expect(resolver().summary.remarks.isEmpty)
        // Without it, the rest is used, and a remark says so.
        try folder.run(["mv", "common", "elsewhere"])
        #expect(
            resolver().summary.remarks == [
                ModuleRemark(.missingCommonFile, folder.path("common"))
            ])
        #expect(resolver().frames(at: secret).map(\.function) == ["secret"])
    }
}
