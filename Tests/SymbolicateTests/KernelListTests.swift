import ProfileModel
import Symbolicate
import TestSupport
import Testing

/// Names of the kernel's functions, from made lists.
struct KernelListTests {
    private static let kernelID: [UInt8] = [0xAB, 0xCD, 1, 2]
    private static let list = """
        ffffffff81000000 T _text
        ffffffff81000100 T first
        ffffffff81000200 t second
        ffffffff81001000 T _etext
        ffffffffc0000000 t inner\t[loop]

        """

    private let root: Scratch

    init() throws { root = try Scratch() }

    private func write(_ bytes: [UInt8], to path: String) throws {
        let folder = path.split(separator: "/").dropLast().joined(separator: "/")
        try root.run(["mkdir", "-p", root.path(folder)])
        _ = try root.write(bytes, to: path)
    }

    private func note(_ buildID: [UInt8]) -> [UInt8] {
        [4, 0, 0, 0, UInt8(buildID.count), 0, 0, 0, 3, 0, 0, 0] + Array("GNU\0".utf8) + buildID
    }

    private func makeKernel() throws {
        try write(Array(Self.list.utf8), to: "proc/kallsyms")
        try write(note(Self.kernelID), to: "sys/kernel/notes")
        try write(Array("loop 4096 0 - Live 0xffffffffc0000000\n".utf8), to: "proc/modules")
        try write(note([5, 6, 7, 8]), to: "sys/module/loop/notes/.note.gnu.build-id")
    }

    /// The name and the remarks for one address of a module.
    private func ask(
        _ path: String, _ buildID: [UInt8], _ address: UInt64,
        kind: CodeAddress.Kind = .instruction, cache: SymbolCache? = nil
    ) -> (name: String?, symbols: ModuleSymbols?) {
        let header = Recording.Header(pid: 1, isAttached: false, capture: .perf, frequency: 1000)
        var recording = Recording(header: header)
        recording.modules = [Module(path: path, buildID: buildID)]
        let frame = FrameAddress(module: ModuleIndex(0), address: CodeAddress(address, kind))
        _ = recording.stacks.intern(parent: nil, frame: frame)
        let table = Symbolicator(
            search: .none, cache: cache,
            kernels: KernelLists(root: root.folder, home: root.folder)
        ).symbolicate(recording)
        return (table.frames[frame]?.first?.function, table.modules[ModuleIndex(0)])
    }

    /// The made kernel has an id as long as real ones, and its list is large enough for a file.
    @Test func theKernelIsAskedOnceForEachLayout() throws {
        let kernel = [UInt8](repeating: 7, count: 20)
        let cache = SymbolCache(folder: root.path("cache"))
        func write(_ name: String) throws {
            let filler = String(repeating: "ffffffff81000300 T filler\n", count: 3000)
            try self.write(
                Array(Self.list.replacing("first", with: name).utf8) + Array(filler.utf8),
                to: "proc/kallsyms")
        }
        try makeKernel()
        try self.write(note(kernel), to: "sys/kernel/notes")
        try write("first")
        #expect(ask("[kernel]", kernel, 0x180, cache: cache).name == "first")
        try write("other")
        #expect(ask("[kernel]", kernel, 0x180).name == "other")
        #expect(ask("[kernel]", kernel, 0x180, cache: cache).name == "first")
        #expect(ask("[kernel:loop]", [5, 6, 7, 8], 8, cache: cache).name == "inner")
        try self.write(
            Array("loop 4096 0 - Live 0xffffffffc0002000\n".utf8), to: "proc/modules")
        #expect(ask("[kernel]", kernel, 0x180, cache: cache).name == "other")
    }

    @Test func theRunningKernelNamesItsOwn() throws {
        try makeKernel()
        #expect(ask("[kernel]", Self.kernelID, 0x180).name == "first")
        #expect(ask("[kernel]", Self.kernelID, 0x200).name == "second")
        #expect(ask("[kernel]", Self.kernelID, 0x200, kind: .returnAddress).name == "first")
        #expect(ask("[kernel]", Self.kernelID, 0x1000).name == nil)
        #expect(ask("[kernel:loop]", [5, 6, 7, 8], 4).name == "inner")
        #expect(ask("[kernel]", Self.kernelID, 1).symbols == ModuleSymbols(symbolOrigin: .complete))
    }

    @Test func anotherKernelsFunctionsHaveNoNames() throws {
        try makeKernel()
        let other = ask("[kernel]", [0xAB, 0xCD, 1, 3], 0x180)
        #expect(other.name == nil)
        #expect(other.symbols?.remarks.map(\.kind) == [.otherBuildID])
        #expect(ask("[kernel:loop]", [5, 6, 7, 9], 4).name == nil)
        let unknown = ask("[kernel]", [], 0x180)
        #expect(unknown.name == nil)
        #expect(unknown.symbols?.remarks.map(\.kind) == [.unreadable])
    }

    @Test func perfsCopyNamesAnotherKernelsFunctions() throws {
        try makeKernel()
        // Loaded elsewhere, with other functions.
        let copy = """
            ffffffffa2000000 T _text
            ffffffffa2000100 T other
            ffffffffa2001000 T _etext

            """
        try write(Array(copy.utf8), to: ".debug/.build-id/ab/cd0103/kallsyms")
        #expect(ask("[kernel]", [0xAB, 0xCD, 1, 3], 0x180).name == "other")
        #expect(ask("[kernel]", Self.kernelID, 0x180).name == "first")
    }

    @Test func hiddenAddressesAreTold() throws {
        try makeKernel()
        try write(Array("0000000000000000 T _text\n".utf8), to: "proc/kallsyms")
        let hidden = ask("[kernel]", Self.kernelID, 0x180)
        #expect(hidden.name == nil)
        #expect(hidden.symbols?.remarks.first?.detail.contains("kptr_restrict") == true)
    }
}
