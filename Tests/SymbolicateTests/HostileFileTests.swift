import ELF
import Glibc
import ProfileModel
import Symbolicate
import TestSupport
import Testing

/// Files that are damaged, cut short or made up: whatever is answered, nothing may crash or hang.
@Suite(.enabled(if: Tools.has("g++", "strip"), "needs g++ and binutils"))
struct HostileFileTests {
    private static let source = """
        #include <vector>
        struct Item { int value; int twice() const { return value * 2; } };
        static int sum(const std::vector<Item> &items) {
            int result = 0;
            for (auto &item : items) result += item.twice();
            return result;
        }
        int main(int count, char **) {
            std::vector<Item> items;
            for (int i = 0; i < count; i++) items.push_back({i});
            return sum(items);
        }
        """

    /// Asks about addresses all over the file's code, and some that are in no file.
    private func interrogate(_ path: String) {
        let resolver = ModuleResolver(Module(path: path), search: .none)
        let inside = Array(stride(from: UInt64(0x1000), to: 0x3000, by: 41))
        let addresses = [0] + inside + [0x40_0000, 1 << 63, .max - 1, .max]
        let frames = resolver.frames(at: addresses)
        #expect(frames.count == addresses.count)
        for found in frames { #expect(!found.isEmpty) }
    }

    @Test(arguments: [["-gdwarf-5"], ["-gdwarf-4"], ["-gz"]])
    func mutatedFiles(options: [String]) throws {
        let folder = try Scratch()
        let program = try folder.compile(
            Self.source, with: "g++", as: "subject", "-O2", "-g", options[0])
        interrogate(program)
        let original = try folder.read("subject")
        var numbers = SeededNumbers(seed: 2024)
        for _ in 0..<100 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...40, using: &numbers) {
                let index = Int.random(in: 4..<bytes.count, using: &numbers)
                bytes[index] = UInt8.random(in: 0...255, using: &numbers)
            }
            interrogate(try folder.write(bytes, to: "mutant"))
        }
    }

    /// The headers hold the offsets, sizes and counts that everything else is found by.
    @Test func mutatedHeaders() throws {
        let folder = try Scratch()
        _ = try folder.compile(Self.source, with: "g++", as: "subject", "-O2", "-g")
        let original = try folder.read("subject")
        let sections = original[40..<48].reversed().reduce(0) { $0 << 8 | Int($1) }
        let extremes: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF]
        var numbers = SeededNumbers(seed: 4711)
        for round in 0..<100 {
            var bytes = original
            let range = round < 30 ? 16..<64 : sections..<original.count
            for _ in 0..<Int.random(in: 1...6, using: &numbers) {
                let index = Int.random(in: range, using: &numbers)
                bytes[index] = extremes.randomElement(using: &numbers) ?? 0
            }
            interrogate(try folder.write(bytes, to: "mutant"))
        }
    }

    @Test func truncatedFiles() throws {
        let folder = try Scratch()
        _ = try folder.compile(Self.source, with: "g++", as: "subject", "-O2", "-g")
        let original = try folder.read("subject")
        var numbers = SeededNumbers(seed: 99)
        let random = (0..<60).map { _ in Int.random(in: 70..<original.count, using: &numbers) }
        for length in Array(0..<70) + random {
            interrogate(try folder.write(Array(original[..<length]), to: "cut"))
        }
    }

    /// A build that overwrites the program while it is symbolicated: missing bytes must not end us,
    /// and answers from then on do not count.
    @Test(arguments: [0, 5000])
    func aFileThatIsCutShortMeanwhile(length: Int) throws {
        let folder = try Scratch()
        let path = try folder.compile(Self.source, with: "g++", as: "subject", "-O2", "-g")
        let resolver = ModuleResolver(Module(path: path), search: .none)
        #expect(!resolver.lostBytes)
        #expect(truncate(path, off_t(length)) == 0)
        let frames = resolver.frames(at: Array(stride(from: UInt64(0x1000), to: 0x3000, by: 41)))
        #expect(!frames.isEmpty)
        #expect(resolver.lostBytes)
    }

    /// A program chooses the files to which its mappings' paths finally lead, and the files that
    /// its debug information names. Opening a pipe releases its writer; opening a device may do
    /// anything.
    @Test func nothingButFilesIsOpened() throws {
        let folder = try Scratch()
        let path = folder.path("pipe")
        let opened = try PipeWatch(path)
        #expect(ModuleResolver(Module(path: path), search: .none).problem == .notUsable)
        #expect(!opened())
        // It would have been noticed.
        close(open(path, O_RDONLY | O_NONBLOCK))
        #expect(opened())
    }

    /// Beside the program, where the compiler was run, and as a package.
    @Test(arguments: [4, 5], ["subject.dwo", "built/subject.dwo", "subject.dwp"])
    func noPipeIsOpenedAsSplitFile(version: Int, name: String) throws {
        let folder = try Scratch()
        try folder.run(["mkdir", "built"])
        try folder.write(Self.source, to: "built/subject.cpp")
        let options = ["-O2", "-g", "-gdwarf-\(version)", "-gsplit-dwarf"]
        try folder.run(
            ["sh", "-c", "cd built && g++ -c subject.cpp \(options.joined(separator: " "))"])
        try folder.run(["g++", "built/subject.o", "-o", "subject"])
        try folder.run(["rm", "built/subject.dwo"])
        let opened = try PipeWatch(folder.path(name))
        interrogate(folder.path("subject"))
        #expect(!opened())
    }

    /// The common file that `dwz` makes.
    @Test func noPipeIsOpenedAsCommonFile() throws {
        let folder = try Scratch()
        try folder.write(Self.source, to: "subject.cpp")
        try folder.run(["g++", "-O2", "-g", "-S", "subject.cpp"])
        // All texts are said to be in the common file: DW_FORM_GNU_strp_alt for DW_FORM_strp.
        try folder.run(
            ["sed", "-i", "s/uleb128 0xe$/uleb128 0x1f21/", "subject.s"])
        try folder.run(["g++", "subject.s", "-o", "subject"])
        try folder.write(Array("common\0".utf8) + [UInt8](repeating: 7, count: 20), to: "link")
        try folder.run(
            ["objcopy", "--add-section", ".gnu_debugaltlink=link", "subject"])
        let opened = try PipeWatch(folder.path("common"))
        interrogate(folder.path("subject"))
        let resolver = ModuleResolver(Module(path: folder.path("subject")), search: .none)
        for address in stride(from: UInt64(0x1000), to: 0x3000, by: 41) {
            #expect(!resolver.framesByLibdw(at: address).isEmpty)
        }
        #expect(!opened())
    }

    @Test func noise() throws {
        let folder = try Scratch()
        var numbers = SeededNumbers(seed: 5)
        for _ in 0..<50 {
            var bytes = (0..<4096).map { _ in UInt8.random(in: 0...255, using: &numbers) }
            bytes.replaceSubrange(0..<7, with: [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1])
            interrogate(try folder.write(bytes, to: "noise"))
        }
    }
}

/// A pipe, and whether it has been opened since.
private final class PipeWatch {
    /// Opening the pipe does not block.
    private let pipe: Int32
    private let watch: Int32

    init(_ path: String) throws {
        try #require(mkfifo(path, 0o600) == 0)
        pipe = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        watch = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        try #require(inotify_add_watch(watch, path, UInt32(IN_OPEN)) >= 0)
    }

    func callAsFunction() -> Bool {
        var events = [UInt8](repeating: 0, count: 4096)
        return read(watch, &events, events.count) > 0
    }

    deinit {
        close(watch)
        close(pipe)
    }
}
