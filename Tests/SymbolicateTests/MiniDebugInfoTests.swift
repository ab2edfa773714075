import ProfileModel
import Symbolicate
import TestSupport
import Testing

/// `.gnu_debugdata`, made as distributions make it.
@Suite(
    .enabled(
        if: Tools.has("gcc", "objcopy", "strip", "nm", "readelf", "xz"),
        "needs gcc, binutils and xz"))
struct MiniDebugInfoTests {
    private struct Subject {
        let folder: Scratch
        let program: String
        let secret: UInt64

        /// - Parameter packed: changes the packed symbols before they are put in.
        init(_ packed: ([UInt8]) -> [UInt8] = { $0 }) throws {
            folder = try Scratch()
            program = try folder.compile(
                DebugFileTests.source, with: "gcc", as: "program", "-O1")
            secret = try #require(try folder.address(of: "secret", in: program))
            try folder.run(["objcopy", "--only-keep-debug", program, "mini"])
            try folder.run(["objcopy", "-S", "--keep-symbol=secret", "mini"])
            try folder.run(["xz", "mini"])
            try folder.write(packed(try folder.read("mini.xz")), to: "mini.xz")
            try folder.run(["strip", program])
            try folder.run(
                ["objcopy", "--add-section", ".gnu_debugdata=mini.xz", program])
        }

        var resolver: ModuleResolver { ModuleResolver(Module(path: program), search: .none) }
    }

    @Test func itsSymbolsName() throws {
        let subject = try Subject()
        let resolver = subject.resolver
        #expect(resolver.summary == ModuleSymbols(symbolOrigin: .miniDebugInfo))
        #expect(resolver.frames(at: subject.secret).map(\.function) == ["secret"])
        // It names only its own symbols.
        #expect(resolver.frames(at: 1).map(\.function) == [nil])
    }

    @Test func aSymbolTableGoesBefore() throws {
        let subject = try Subject()
        let whole = try subject.folder.compile(
            DebugFileTests.source, with: "gcc", as: "whole", "-O1")
        try subject.folder.run(
            ["objcopy", "--add-section", ".gnu_debugdata=mini.xz", whole])
        let resolver = ModuleResolver(Module(path: whole), search: .none)
        #expect(resolver.summary == ModuleSymbols(symbolOrigin: .complete))
    }

    @Test func truncatedFilesAreRefused() throws {
        let remark = ModuleRemark(.damagedMiniDebugInfo)
        let damages: [([UInt8]) -> [UInt8]] = [
            { Array($0.prefix($0.count / 2)) }, { Array($0.dropFirst()) }, { _ in [0] },
        ]
        for damage in damages {
            let subject = try Subject(damage)
            #expect(subject.resolver.summary.remarks == [remark])
            #expect(subject.resolver.summary.symbolOrigin == .exported)
        }
    }

    /// 300 MB of zeros, in 45 kB.
    @Test func decompressionBombsAreRefused() throws {
        let subject = try Subject()
        try subject.folder.run(
            ["sh", "-c", "head -c 300000000 /dev/zero | xz > bomb.xz"])
        try subject.folder.run(
            [
                "objcopy", "--update-section", ".gnu_debugdata=bomb.xz", subject.program,
            ])
        #expect(subject.resolver.summary.remarks == [ModuleRemark(.damagedMiniDebugInfo)])
    }

    @Test func bytesChangedAtRandomDoNoHarm() throws {
        let subject = try Subject()
        let packed = try subject.folder.read("mini.xz")
        var numbers = SeededNumbers(seed: 11)
        for _ in 0..<40 {
            var bytes = packed
            bytes[Int.random(in: 0..<bytes.count, using: &numbers)] ^= 1
            try subject.folder.write(bytes, to: "changed.xz")
            try subject.folder.run(
                [
                    "objcopy", "--update-section", ".gnu_debugdata=changed.xz", subject.program,
                ])
            let resolver = subject.resolver
            // xz has a checksum: nothing that was changed is believed.
            let name = resolver.frames(at: subject.secret).map(\.function)
            #expect(name == ["secret"] || name == [nil])
        }
    }
}
