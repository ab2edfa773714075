import ELF
import Glibc
import ProfileModel
import Symbolicate
import Synchronization
import TestSupport
import Testing

/// Whole recordings.
struct SymbolicatorTests {
    private func recording(
        _ modules: [Module], _ frames: [FrameAddress]
    ) -> Recording {
        let header = Recording.Header(pid: 1, isAttached: false, capture: .ptrace, frequency: 1000)
        var recording = Recording(header: header)
        recording.modules = modules
        for frame in frames { _ = recording.stacks.intern(parent: nil, frame: frame) }
        return recording
    }

    private static let source = """
        .text
        .globl first, second, main
        .type first, @function
        first: nop
        call second
        .size first, . - first
        .type second, @function
        second: ret
        .size second, . - second
        .type main, @function
        main: ret
        .size main, . - main
        .section .note.GNU-stack, "", @progbits

        """

    @Test(.enabled(if: Tools.has("gcc", "nm"), "needs gcc and binutils"))
    func returnAddressesBelongToTheCallersFunction() throws {
        let folder = try Scratch()
        let source = try folder.write(Self.source, to: "calls.s")
        try folder.run(["gcc", source, "-o", "calls"])
        let program = folder.path("calls")
        let second = try #require(try folder.address(of: "second", in: program))
        // The call is the last instruction of `first`: it returns to the first byte of `second`.
        let index = ModuleIndex(0)
        let returning = FrameAddress(module: index, address: CodeAddress(second, .returnAddress))
        let executing = FrameAddress(module: index, address: CodeAddress(second, .instruction))
        let table = Symbolicator(search: .none).symbolicate(
            recording([Module(path: program)], [returning, executing]))
        #expect(table.frames[returning]?.map(\.function) == ["first"])
        #expect(table.frames[executing]?.map(\.function) == ["second"])
        #expect(table.modules[index] == ModuleSymbols(symbolOrigin: .complete))
    }

    @Test func everyAddressGetsAnAnswer() {
        let addresses = [
            FrameAddress(module: nil, address: CodeAddress(0x7F00, .instruction)),
            FrameAddress(module: ModuleIndex(7), address: CodeAddress(1, .returnAddress)),
            FrameAddress(module: ModuleIndex(-1), address: CodeAddress(1, .returnAddress)),
            FrameAddress(module: ModuleIndex(0), address: CodeAddress(0, .returnAddress)),
        ]
        let table = Symbolicator().symbolicate(
            recording([Module(path: "/nowhere"), Module(path: "[heap]")], addresses))
        let unknown = SourceFrame(function: nil, file: nil, line: nil, isInlined: false)
        for address in addresses { #expect(table.frames[address] == [unknown]) }
        let missing = ModuleSymbols(
            remarks: [ModuleRemark(.unreadable, "No such file or directory")])
        #expect(table.modules == [ModuleIndex(0): missing, ModuleIndex(1): ModuleSymbols()])
    }

    /// The check for cancellation is called before a module, before each unit is searched for code,
    /// before each unit and each address is looked up, and in the end. Incomplete results are left
    /// for later, as if the work had not begun.
    @Test(.enabled(if: Tools.has("gcc", "nm"), "needs gcc and binutils"))
    func aCancelledSearchEnds() throws {
        let folder = try Scratch()
        let program = try folder.compile(
            "int main(void) { return 0; }", with: "gcc", as: "program", "-g")
        let place = try #require(try folder.address(of: "main", in: program))
        let index = ModuleIndex(0)
        let main = FrameAddress(module: index, address: CodeAddress(place, .instruction))
        var recording = recording([Module(path: program)], [main])
        func find(patience: Int) -> Symbolicator.Found {
            let asked = Mutex(0)
            var symbolicator = Symbolicator(search: .none)
            symbolicator.isCalledOff = {
                asked.withLock { asked in
                    asked += 1
                    return asked > patience
                }
            }
            return symbolicator.find(recording)
        }
        for patience in 0..<5 {
            let found = find(patience: patience)
            #expect(found.left == 1, "after \(patience)")
            #expect(found.symbols.frames.isEmpty && found.symbols.modules.isEmpty)
        }
        #expect(find(patience: 5).left == 0)
        recording.symbols = find(patience: 0).symbols
        let table = Symbolicator(search: .none).symbolicate(recording)
        #expect(table.frames[main]?.map(\.function) == ["main"])
        #expect(table.modules[index]?.hasDebugInfo == true)
    }

    @Test func knownAnswersAreKept() {
        let index = ModuleIndex(0)
        let known = FrameAddress(module: index, address: CodeAddress(0x10, .instruction))
        let added = FrameAddress(module: index, address: CodeAddress(0x20, .instruction))
        var recording = recording([Module(path: "/nowhere")], [known, added])
        let frame = SourceFrame(function: "elsewhere", file: "a.c", line: 3, isInlined: false)
        let summary = ModuleSymbols(
            debugInfoPath: "/elsewhere.debug", debugInfoOrigin: .debugLink, symbolOrigin: .complete)
        recording.symbols.frames[known] = [frame]
        recording.symbols.modules[index] = summary
        let table = Symbolicator().symbolicate(recording)
        #expect(table.frames[known] == [frame])
        #expect(table.frames[added]?.map(\.function) == [nil])
        #expect(table.modules == [index: summary])
    }

    @Test func theVDSOIsOurOwnIfItIsTheSame() throws {
        let handle = try #require(dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD))
        defer { dlclose(handle) }
        let function = UInt(bitPattern: dlsym(handle, "__vdso_clock_gettime"))
        let start = try #require(Self.image(holding: function))
        let image = UnsafeRawBufferPointer(start: start, count: 4096)
        let buildID = try #require(Self.buildID(in: image))
        let lookup = UInt64(function - UInt(bitPattern: start))
        let resolver = ModuleResolver(Module(path: "[vdso]", buildID: buildID))
        #expect(resolver.frames(at: lookup).map(\.function) == ["clock_gettime"])
        #expect(resolver.summary.hasSymbols)
        let other = ModuleResolver(Module(path: "[vdso]", buildID: buildID.reversed()))
        #expect(other.frames(at: lookup).map(\.function) == [nil])
        #expect(other.problem == .otherBuildID)
    }

    /// The start of the ELF image that an address lies in: the page with its magic number.
    private static func image(holding address: UInt) -> UnsafeRawPointer? {
        for page in 0..<4 {
            let start = UnsafeRawPointer(bitPattern: address & ~4095 - UInt(page) * 4096)
            if start?.loadUnaligned(as: UInt32.self) == 0x464C_457F { return start }
        }
        return nil
    }

    /// The note's name length, description length, type and name, then the id.
    private static func buildID(in image: UnsafeRawBufferPointer) -> [UInt8]? {
        let note: [UInt8] = [4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 0x47, 0x4E, 0x55, 0]
        return (0..<(image.count - 36)).first { image[$0..<($0 + 16)].elementsEqual(note) }
            .map { Array(image[($0 + 16)..<($0 + 36)]) }
    }
}
