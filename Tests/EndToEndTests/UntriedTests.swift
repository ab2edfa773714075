import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Unusual kinds of programs: each has the same output and end as without recording.
    @Suite struct Untried {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private static let rarities = [
            "uring", "userfault", "strict", "inherit", "unmapped", "moved", "protected", "daemon",
            "numbers",
        ]

        @Test(arguments: rarities + ["namespaces", "traced", "parent"])
        func rare(what: String) throws {
            if what == "namespaces" { try needNamespaces() }
            try SideBySide(scratch: scratch).compare(fixture: ["rare", what])
        }

        /// A forked child has our changes, and shares the area with its parent. Its actions must
        /// not be reported as its parent's, whose recording goes on.
        @Test func aForkedChildsActionsAreNotItsParents() throws {
            let program = [try Setup.fixture("offspring"), try Setup.fixture("libplugin.so")]
            for _ in 0..<3 {
                let report = try SideBySide(scratch: scratch).compare(
                    program, options: ["--mark", "hit=hit"])
                let kinds = Set(report.launch.notes.map(\.kind))
                #expect(
                    kinds.isDisjoint(with: ["filtered", "displaced", "left_behind"]), "\(kinds)")
                let facts = try facts()
                #expect(facts.signposts.map(\.name) == ["hit", "event"])
                #expect(facts.intervals.map(\.name) == ["everything"])
                let threads = Set(facts.signposts.map(\.tid) + facts.intervals.map(\.tid))
                #expect(threads == [report.program.pid])
                let plugin = facts.initializers.filter { $0.module.hasSuffix("libplugin.so") }
                #expect(
                    plugin.map(\.function).filter { $0.hasPrefix("plugin_") }
                        == ["plugin_compute", "plugin_rest"])
                #expect(facts.libraries.filter { $0.path.hasSuffix("/libplugin.so") }.count == 1)
            }
        }

        /// The parts of the JSON report for these tests.
        private struct Facts: Decodable {
            struct Moment: Decodable {
                var name: String
                var tid: Int32
            }
            struct Initializer: Decodable {
                var function: String
                var module: String
            }
            struct Library: Decodable { var path: String }

            var signposts: [Moment]
            var intervals: [Moment]
            var initializers: [Initializer]
            var libraries: [Library]
        }

        private func facts() throws -> Facts {
            let finished = Finished(end: .exited(0), output: "", error: "")
            let text = try Recorded(path: scratch("recording"), finished: finished)
                .text("report", ["--format", "json"])
            return try JSONDecoder().decode(Facts.self, from: Data(text.utf8))
        }

        /// A program that asks to be traced, or that is traced by another one, cannot be traced by
        /// us as well: a limit of this capture (docs/design/Sampler/Signal.md).
        @Test(arguments: rarities + ["namespaces"])
        func rareByStops(what: String) throws {
            if what == "namespaces" { try needNamespaces() }
            try SideBySide(scratch: scratch).compare(
                fixture: ["rare", what], options: ["--capture", "ptrace"])
        }

        /// If a program may not unshare, the fixture also fails without recording.
        private func needNamespaces() throws {
            let alone = try Command([try Setup.fixture("rare"), "namespaces"]).run()
            if alone.status != 7 { try Setup.skip("namespaces cannot be unshared here") }
        }

        /// A thread in strict mode would be killed for any call that it were diverted to. So no
        /// thread is diverted when the recording ends.
        @Test(arguments: 1...3) func aRecordingEndsInStrictMode(time: Int) throws {
            try SideBySide(scratch: scratch).compare(
                fixture: ["rare", "strict"], options: ["--until", "output", "--after", "keep"])
        }

        /// Some linkers have no room for our bootstrap behind their code; then it replaces the code
        /// at their entry.
        @Test(
            .needs("musl-gcc"),
            arguments: [
                ("spin", []), ("threads", []), ("signals", []), ("asking", []),
                ("spin", ["-static"]), ("asking", ["-static"]),
                ("signals", ["-static"]), ("forked", ["-static"]), ("forked", ["-static"]),
                ("forked", ["-static"]), ("forked", ["-static"]), ("forked", ["-static"]),
            ] as [(String, [String])])
        func musl(fixture: String, linking: [String]) throws {
            try compile(fixture, linking: linking)
            try SideBySide(scratch: scratch).compare([scratch(fixture)])
        }

        /// musl has no unwind tables: the functions that call `main` and threads' functions are
        /// recognised by their next instructions.
        @Test(.needs("musl-gcc"), arguments: [[], ["-static"]])
        func stacksOfMuslsPrograms(linking: [String]) throws {
            try compile("spin", linking: linking)
            let report = try SideBySide(scratch: scratch).compare([scratch("spin")])
            #expect(report.launch.slices > 0)
            // All but those within the C library.
            #expect(report.launch.truncatedStacks * 2 < report.launch.slices)
        }

        /// Nothing shows that this linker is the C library, so the program's use of signals would
        /// be unknown.
        @Test(.needs("musl-gcc")) func aLinkerThatNobodyKnows() throws {
            let report = try compareWithLinker { linker in
                let name = try #require(linker.range(of: Data("_dl_debug_addr".utf8)))
                linker.replaceSubrange(name, with: Data("_dl_debug_none".utf8))
            }
            #expect(report.launch.notes.contains { $0.kind == "no_call_site" })
        }

        /// musl's linker is recognised by its symbols, whatever its file's name.
        @Test(.needs("musl-gcc")) func muslsLinkerByAnotherName() throws {
            let report = try compareWithLinker { _ in }
            #expect(!report.launch.notes.contains { $0.kind == "no_call_site" })
            #expect(report.phaseNames.contains("Static initialisers"))
        }

        /// In a linker that was optimised for size, the next function is where our jump would end,
        /// so it is not patched. Instead, the program's first instruction shows that linking is
        /// over.
        @Test(.needs("musl-gcc"), .needs("readelf")) func muslsLinkerWithoutRoomForAJump() throws {
            let report = try compareWithLinker { linker in
                // Addresses in the file are offsets, because its first segment contains headers and
                // code.
                let place = try address(of: "_dl_debug_state")
                #expect(linker[place] == 0xC3)
                linker.replaceSubrange(place + 1..<place + 5, with: [0x55, 0x53, 0x5B, 0x5D])
            }
            #expect(
                report.phaseNames.suffix(3) == ["Dynamic linking", "Static initialisers", "Main"])
        }

        private static let linker = "/lib/ld-musl-x86_64.so.1"

        private func address(of symbol: String) throws -> Int {
            let listed = try Command(["readelf", "-W", "--dyn-syms", Self.linker]).run().output
            let line = listed.split(separator: "\n").first { $0.hasSuffix(" \(symbol)") }
            let words = try #require(line).split(separator: " ")
            return try #require(Int(words[1], radix: 16))
        }

        /// Compares a program whose linker is musl's with one change.
        private func compareWithLinker(
            _ change: (inout Data) throws -> Void
        ) throws -> LaunchReport {
            var bytes = try Data(contentsOf: URL(filePath: Self.linker))
            try change(&bytes)
            let linker = scratch("linker")
            try scratch.write([UInt8](bytes), to: "linker", mode: 0o755)
            try compile("asking", linking: ["-Wl,-dynamic-linker,\(linker)"])
            return try SideBySide(scratch: scratch).compare([scratch("asking")])
        }

        private func compile(_ fixture: String, linking: [String]) throws {
            let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent().appending(path: "Fixtures")
            let flags = ["-std=gnu17", "-O2", "-D_GNU_SOURCE", "-pthread"] + linking
            let compiled = try Command(
                ["musl-gcc"] + flags
                    + ["-o", scratch(fixture), fixtures.appending(path: "\(fixture).c").path]
            ).run()
            #expect(compiled.status == 0, "\(compiled.error)")
        }

        private static let captures: [[String]] = [[], ["--capture", "ptrace"]]

        /// Compares `script` with `"$@"` as it is, and with `record` in front of the program that
        /// follows.
        private func compare(
            script: String, _ program: [String], options: [String]
        ) throws {
            let shell = ["sh", "-c", script, "sh"]
            let alone = try Command(shell + program).run()
            let recording = try Firstlight.recording(
                program, to: scratch("recording"), options: ["--quiet"] + options)
            #expect(try Command(shell + recording.words).run() == alone)
        }

        @Test(
            arguments: [
                #"head -c 100000000 /dev/zero | "$@""#,
                #"head -c 100000000 /dev/zero > input; "$@" < input"#,
            ], captures)
        func aHundredMegabytesOfInput(script: String, options: [String]) throws {
            let folder = "cd '\(scratch.folder)'; "
            try compare(script: folder + script, ["sha256sum"], options: options)
        }

        @Test(arguments: captures) func aReaderThatEndsEarly(options: [String]) throws {
            let script = #"{ "$@"; echo "status $?" >&2; } | head -n 1"#
            try compare(script: script, ["yes"], options: options)
        }
    }
}
