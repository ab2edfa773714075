import Glibc
import ProfileModel
import Symbolicate
import TestSupport
import Testing

@Suite(.enabled(if: Tools.has("gcc", "readelf"), "needs gcc and binutils"))
struct DebianPackagesTests {
    private struct Subject {
        let folder: Scratch
        let program: String
        let buildID: [UInt8]

        init() throws {
            folder = try Scratch()
            program = try folder.compile(
                "int main(void) { return 0; }", with: "gcc", as: "program")
            buildID = try folder.buildID(of: program)
        }

        func owners(_ buildID: [UInt8]? = nil) -> [String: String] {
            DebianPackages(folder: folder.folder).owners(
                of: [Module(path: program, buildID: buildID ?? self.buildID)])
        }
    }

    @Test func theListWithTheWholePathCounts() throws {
        let subject = try Subject()
        let program = subject.program
        try subject.folder.write("/.\n\(program)-doc\n/x\(program)\n", to: "aaa.list")
        try subject.folder.write("/.\n\(program)\n", to: "bbb:amd64.list")
        try subject.folder.write("/.\n\(program)\n", to: "ccc.md5sums")
        #expect(subject.owners() == [program: "bbb"])
    }

    @Test func anotherBuildOfTheFileIsNobodys() throws {
        let subject = try Subject()
        try subject.folder.write("/.\n\(subject.program)\n", to: "bbb.list")
        #expect(subject.owners([1, 2, 3, 4]).isEmpty)
        #expect(subject.owners([]).isEmpty)
    }

    @Test func otherFilesAreLeftAlone() throws {
        let subject = try Subject()
        #expect(mkfifo(subject.folder.path("aaa.list"), 0o600) == 0)
        try subject.folder.write("", to: "bbb.list")
        #expect(subject.owners().isEmpty)
        #expect(DebianPackages(folder: "/nowhere").owners(of: []).isEmpty)
    }

    /// Against dpkg itself.
    @Test(.enabled(if: Tools.has("dpkg"), "needs dpkg"))
    func theCLibrary() throws {
        let libc = "/usr/lib/x86_64-linux-gnu/libc.so.6"
        let folder = try Scratch()
        try #require(access(libc, R_OK) == 0)
        let module = Module(path: libc, buildID: try folder.buildID(of: libc))
        #expect(DebianPackages().owners(of: [module]) == [libc: "libc6"])
    }
}
