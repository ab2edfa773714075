import ProfileModel
import Symbolicate
import TestSupport
import Testing

/// Debug information in `.dwo` files.
@Suite(.enabled(if: Tools.has("gcc", "nm"), "needs gcc and binutils"))
struct SplitFileTests {
    private static let source = """
        volatile int sink;
        static inline __attribute__((always_inline)) int deep(int value) {
            sink = value;
            return value + 1;
        }
        __attribute__((noinline)) int outer(int value) { return deep(value) + sink; }
        int main(int count, char **words) { return outer(count); }
        """

    private func compile(_ folder: Scratch, _ version: Int) throws -> String {
        // In two steps, as with make: the file is named after the object.
        try folder.write(Self.source, to: "program.c")
        try folder.run(
            ["gcc", "-O2", "-g", "-gdwarf-\(version)", "-gsplit-dwarf", "-c", "program.c"])
        try folder.run(["gcc", "program.o", "-o", "program"])
        return folder.path("program")
    }

    @Test(arguments: [4, 5])
    func theyAreFoundAndMissed(version: Int) throws {
        let folder = try Scratch()
        let program = try compile(folder, version)
        let range = try #require(try folder.symbols(of: program)["outer"])
        func answers() -> (ModuleSymbols, [String?]) {
            let resolver = ModuleResolver(Module(path: program), search: .none)
            let deepest = range.map { resolver.frames(at: $0) }.max { $0.count < $1.count }
            return (resolver.summary, deepest?.map(\.function) ?? [])
        }
        let there = answers()
        #expect(there.1 == ["outer", "deep"])
        #expect(there.0.remarks.isEmpty)
        try folder.run(["mv", "program.dwo", "elsewhere"])
        let gone = answers()
        #expect(gone.1 == ["outer"])
        #expect(gone.0.remarks == [ModuleRemark(.missingSplitFile, "program.dwo")])
        // It is no package.
        try folder.run(["mv", "elsewhere", "program.dwp"])
        #expect(answers().0.remarks == [ModuleRemark(.unreadPackage, program + ".dwp")])
    }
}
