import ELF
import Glibc
import ProfileModel
import Symbolicate
import TestSupport
import Testing

/// Which symbol an address belongs to, and that it is none where none covers it.
@Suite(.enabled(if: Tools.has("gcc", "nm", "strip"), "needs gcc and binutils"))
struct SymbolTests {
    private func function(_ address: UInt64, in program: String) -> String? {
        let frames = ModuleResolver(Module(path: program), search: .none).frames(at: address)
        #expect(frames.count == 1)
        return frames.first?.function
    }

    private static let assembler = """
        __asm__(
            ".text\\n"
            ".globl sized\\n" ".type sized, @function\\n"
            "sized: nop\\n nop\\n label_inside: nop\\n nop\\n" ".size sized, 4\\n"
            "nop\\n nop\\n nop\\n nop\\n"  // of nobody
            ".globl unsized\\n" ".type unsized, @function\\n"
            "unsized: nop\\n nop\\n nop\\n nop\\n"
            ".globl next\\n" ".type next, @function\\n"
            "next: nop\\n nop\\n nop\\n nop\\n" ".size next, 4\\n"
            ".section .text.zlast, \\"ax\\"\\n"
            ".globl last\\n" "last: nop\\n nop\\n"
            ".section .extra, \\"ax\\"\\n" ".balign 64\\n"
            "nop\\n nop\\n nop\\n nop\\n"
            ".globl covered\\n" ".type covered, @function\\n"
            "covered: nop\\n" ".size covered, 1\\n"
            ".text\\n");
        int main(void) { return 0; }
        """

    @Test func sizesAreBordersAndLabelsWithoutSizeFillGapsOnly() throws {
        let folder = try Scratch()
        let program = try folder.compile(Self.assembler, with: "gcc", as: "asm")
        let sized = try #require(try folder.address(of: "sized", in: program))
        let expected: [(UInt64, String?)] = [
            (0, "sized"), (2, "sized"), (3, "sized"), (4, nil), (7, nil),
            (8, "unsized"), (11, "unsized"), (12, "next"), (15, "next"),
        ]
        for (offset, name) in expected {
            #expect(function(sized + offset, in: program) == name, "at \(offset)")
        }
    }

    @Test func dataHasNames() throws {
        let folder = try Scratch()
        let program = try folder.compile(
            """
            long wide[4]; static int narrow = 3; int zero;
            int main(void) { return (int)wide[1] + narrow + zero; }
            """, with: "gcc", as: "c")
        func address(_ name: String) throws -> UInt64 {
            try #require(try folder.address(of: name, in: program))
        }
        let (wide, narrow) = try (address("wide"), address("narrow"))
        let resolver = ModuleResolver(Module(path: program), search: .none)
        let names = resolver.dataNames(at: [wide, wide + 31, wide + 32, narrow, narrow + 3, 1])
        #expect(names[wide] == "wide" && names[wide + 31] == "wide")
        #expect(names[wide + 32] != "wide" && names[1] == nil)
        #expect(names[narrow] == "narrow" && names[narrow + 3] == "narrow")
        // Functions are no data.
        #expect(resolver.dataNames(at: [try address("main")]).isEmpty)
        #expect(ModuleResolver(Module(path: "[heap]"), search: .none).dataNames(at: [wide]) == [:])
    }

    @Test func nothingReachesIntoAnotherSection() throws {
        let folder = try Scratch()
        let program = try folder.compile(Self.assembler, with: "gcc", as: "asm")
        let covered = try #require(try folder.address(of: "covered", in: program))
        #expect(function(covered, in: program) == "covered")
        #expect(function(covered + 1, in: program) == nil)
        #expect((1...4).allSatisfy { function(covered - $0, in: program) == nil })
    }

    /// Once local symbols are stripped, the next one left says nothing about where one ends.
    @Test func labelsWithoutSizeCoverNothingInAStrippedLibrary() throws {
        let folder = try Scratch()
        let library = try folder.compile(
            Self.assembler, with: "gcc", as: "asm.so", "-shared", "-fPIC")
        let unsized = try #require(try folder.address(of: "unsized", in: library))
        #expect(function(unsized, in: library) == "unsized")
        try folder.run(["strip", library])
        #expect(function(unsized, in: library) == nil)
        #expect(function(unsized + 4, in: library) == "next")
    }

    @Test func startIsNamed() throws {
        let folder = try Scratch()
        let program = try folder.compile("int main(void) { return 0; }", with: "gcc", as: "small")
        let start = try #require(try folder.address(of: "_start", in: program))
        #expect(function(start, in: program) == "_start")
        let initialise = try #require(try folder.address(of: "_init", in: program))
        #expect(function(initialise, in: program) == "_init")
    }

    @Test func aliasesAreChosenByRule() throws {
        let folder = try Scratch()
        let program = try folder.compile(
            """
            static __attribute__((used, noinline)) int aa_local(void) { return 7; }
            __attribute__((alias("aa_local"))) int __exported(void);
            __attribute__((weak, alias("aa_local"))) int exported(void);
            __attribute__((alias("aa_local"))) int long_exported(void);
            __attribute__((alias("aa_local"))) int zz_exported(void);
            int main(void) { return aa_local(); }
            """, with: "gcc", as: "aliases", "-O1")
        let address = try #require(try folder.address(of: "aa_local", in: program))
        // Exported before local, no underscores before some, global before weak, the shorter.
        #expect(function(address, in: program) == "zz_exported")
    }

    @Test(arguments: [["-fcf-protection=full", "-Wl,-z,ibtplt"], ["-fcf-protection=none"]])
    func stubsAreNamedAfterWhatTheyCall(options: [String]) throws {
        let folder = try Scratch()
        let source = try folder.write(
            """
            #include <stdio.h>
            #include <stdlib.h>
            int main(int count, char **words) {
                puts(words[0]); srand(count); free(malloc(count)); return (long)&free == 1;
            }
            """, to: "stubs.c")
        let program = folder.path("stubs")
        try folder.run(
            ["gcc", source, "-o", program, "-O1", "-fno-builtin", "-Wl,-z,lazy"] + options)
        var names: [String: Set<String?>] = [:]
        for line in try folder.printed(by: ["readelf", "-SW", program]) {
            let words = line.split { " []".contains($0) }
            guard words.count > 6, words[1].hasPrefix(".plt"),
                let start = UInt64(words[3], radix: 16), let size = UInt64(words[5], radix: 16)
            else { continue }
            for address in start..<(start + size) {
                names[String(words[1]), default: []].insert(function(address, in: program))
            }
        }
        let direct: Set<String?> = ["puts@plt", "srand@plt", "malloc@plt"]
        #expect(names[".plt"]?.isSuperset(of: direct) == true)
        // The first stub, which calls the loader, belongs to no function.
        #expect(names[".plt"]?.contains(nil) == true)
        if options.contains("-Wl,-z,ibtplt") {
            #expect(names[".plt.sec"]?.isSuperset(of: direct) == true)
        }
        #expect(names.values.joined().contains("free@plt"))
        #expect(names.values.joined().allSatisfy { $0?.hasSuffix("@plt") ?? true })
    }

    @Test func mappingsWithoutAFileHaveNoSymbols() {
        for path in ["[heap]", "[stack]", "//anon", "", "[vdso]", "anon_inode:x", "relative"] {
            let resolver = ModuleResolver(Module(path: path))
            #expect(!resolver.summary.hasSymbols && !resolver.summary.hasDebugInfo)
            #expect(resolver.frames(at: 0x1000).map(\.function) == [nil])
        }
    }

    @Test func filesThatCannotBeUsedSayWhy() throws {
        let folder = try Scratch()
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        let expected: [(String, ELFFileError)] = [
            (folder.path("missing"), .cannotOpen(ENOENT)), (folder.folder, .notUsable),
            (folder.path("pipe"), .notUsable), ("/dev/null", .notUsable),
            (try folder.write("", to: "empty"), .notUsable),
            (try folder.write("#!/bin/sh\n", to: "script"), .notUsable),
            (try folder.write("\u{7F}ELF", to: "stub"), .notUsable),
        ]
        for (path, problem) in expected {
            let resolver = ModuleResolver(Module(path: path), search: .none)
            #expect(resolver.problem == problem, "\(path)")
            let remark = ModuleRemark(.unreadable, problem.description)
            #expect(resolver.summary == ModuleSymbols(remarks: [remark]))
        }
    }
}
