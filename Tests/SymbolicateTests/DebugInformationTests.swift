import ELF
import Glibc
import Symbolicate
import Testing

@Suite struct DebugInformationTests {
    @Test func filesThatCannotBeRead() {
        #expect(DebugInformation(ofModuleAt: "/none") == .unknown(.cannotOpen(ENOENT)))
        #expect(DebugInformation(ofModuleAt: "/dev/null") == .unknown(.notUsable))
    }

    @Test(.enabled(if: Tools.has("gcc", "objcopy", "strip"), "needs gcc and binutils"))
    func whereItIs() throws {
        let folder = try TemporaryFolder()
        try run(["sh", "-c", "echo 'int main(void) { return 0; }' > main.c"], in: folder.path)
        try run(["gcc", "-g", "-o", "program", "main.c"], in: folder.path)
        let program = folder.file("program")
        #expect(DebugInformation(ofModuleAt: program) == .inModule)
        try run(["objcopy", "--only-keep-debug", "program", "program.debug"], in: folder.path)
        try run(["strip", "program"], in: folder.path)
        #expect(DebugInformation(ofModuleAt: program) == .missing)
        try run(["objcopy", "--add-gnu-debuglink=program.debug", "program"], in: folder.path)
        #expect(
            DebugInformation(ofModuleAt: program) == .separate(folder.file("program.debug")))
        #expect(DebugInformation(ofModuleAt: program, search: .none) == .missing)
    }
}
