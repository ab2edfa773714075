import ELF
import Glibc
import Symbolicate
import TestSupport
import Testing

@Suite struct DebugInformationTests {
    @Test func filesThatCannotBeRead() {
        #expect(DebugInformation(ofModuleAt: "/none") == .unknown(.cannotOpen(ENOENT)))
        #expect(DebugInformation(ofModuleAt: "/dev/null") == .unknown(.notUsable))
    }

    @Test(.enabled(if: Tools.has("gcc", "objcopy", "strip"), "needs gcc and binutils"))
    func whereItIs() throws {
        let folder = try Scratch()
        try folder.run(["sh", "-c", "echo 'int main(void) { return 0; }' > main.c"])
        try folder.run(["gcc", "-g", "-o", "program", "main.c"])
        let program = folder.path("program")
        #expect(DebugInformation(ofModuleAt: program) == .inModule)
        try folder.run(["objcopy", "--only-keep-debug", "program", "program.debug"])
        try folder.run(["strip", "program"])
        #expect(DebugInformation(ofModuleAt: program) == .missing)
        try folder.run(["objcopy", "--add-gnu-debuglink=program.debug", "program"])
        #expect(
            DebugInformation(ofModuleAt: program) == .separate(folder.path("program.debug")))
        #expect(DebugInformation(ofModuleAt: program, search: .none) == .missing)
    }
}
