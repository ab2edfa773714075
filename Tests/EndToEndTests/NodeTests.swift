import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Functions of JavaScript in stacks and imports.
    @Suite struct Node {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Functions that measure themselves. Most are compiled by V8 while they run; `cold` is
        /// interpreted.
        private static let timed = """
            const fs = require('fs')
            const truth = {}
            function clocked(f) {
              const start = process.hrtime.bigint()
              f()
              truth[f.name] = Number(process.hrtime.bigint() - start)
            }
            function work(n) {
              let x = 0
              for (let i = 0; i < n; i++) x = (x + Math.sqrt(i) * i) % 7
              return x
            }
            function light() { work(1e6) }
            function heavy() { for (let i = 0; i < 3; i++) work(2e6) }
            function recursion() {
              const call = n => n === 0 ? work(3e6) : call(n - 1)
              call(100)
            }
            function generators() {
              function* one() { for (let i = 0; i < 4; i++) { work(1e6); yield i } }
              for (const _ of one());
            }
            function callbacks() { [1, 2, 3, 4].forEach(() => work(1e6)) }
            class Made { constructor() { work(2e6) } get value() { return work(1e6) } }
            function objects() { new Made().value }
            function exceptions() {
              for (let i = 0; i < 4; i++) try { work(1e6); throw new Error() } catch { work(1e5) }
            }
            function cold() {
              for (let i = 0; i < 2000; i++) new Function(`let x = ${i}; return x * ${i}`)()
            }
            function waiting() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 80) }
            for (const f of [light, heavy, recursion, generators, callbacks, objects, exceptions, cold,
                             waiting]) clocked(f)
            fs.writeFileSync(process.argv[2], process.pid + '\\n' + Object.entries(truth)
              .map(([name, time]) => `${name} ${time}\\n`).join(''))
            """

        private static let asked = ["--quiet", "--runtime", "node"]

        private func map(ofProgram file: String = "truth") throws -> String {
            let pid = try #require(scratch.contents(of: file)?.split(separator: "\n").first)
            return "/tmp/perf-\(pid).map"
        }

        /// Time in JavaScript, and how much of it is in stacks with an unnamed function.
        private func unnamed(_ folded: Folded) -> (all: Int64, unnamed: Int64) {
            let script = folded.lines.filter { $0.frames.contains("Builtins_JSEntry") }
            let unnamed = script.filter { $0.frames.contains { $0.hasPrefix("0x") } }
            return (
                script.reduce(0) { $0 + $1.count }, unnamed.reduce(0) { $0 + $1.count }
            )
        }

        @Test(.needs("node")) func functionsAreNamed() throws {
            try scratch.write(Self.timed, to: "app.js")
            let recorded = try Firstlight.record(
                ["node", scratch("app.js"), scratch("truth")], in: scratch, options: Self.asked)
            let wall = try recorded.folded("--weight", "wall", "--no-phase", "--no-thread")
            for name in ["heavy", "recursion", "waiting"] {
                #expect(wall.nanoseconds(through: name) > 0, "\(name)")
            }
            let (all, unnamed) = unnamed(wall)
            #expect(unnamed * 2 <= all, "\(unnamed) of \(all) µs have no name")
            #expect(access(try map(), F_OK) != 0)
        }

        @Test(.needs("node")) func childrensFunctionsAreNamedToo() throws {
            try scratch.write(Self.timed, to: "app.js")
            let recorded = try Firstlight.record(
                ["sh", "-c", "node \(scratch("app.js")) \(scratch("truth")); true"], in: scratch,
                options: Self.asked + ["--follow-children"])
            let wall = try recorded.folded("--weight", "wall")
            #expect(wall.nanoseconds(through: "heavy", "work") > 0)
            #expect(access(try map(), F_OK) != 0)
        }

        /// The program's output, status and files are the same as without recording.
        @Test(.needs("node")) func theProgramBehavesAsWithout() throws {
            let program = """
                console.log(process.env.NODE_OPTIONS); console.error('e', process.argv.slice(1))
                process.exit(7)
                """
            let words = ["node", "-e", program, "a b"]
            let own = ["NODE_OPTIONS": "--max-old-space-size=512 --no-warnings"]
            var alone = Command(words, adding: own)
            alone.directory = scratch.folder
            let expected = try alone.run()
            var command = try Firstlight.recording(
                words, to: scratch("recording"), options: Self.asked, adding: own)
            command.directory = scratch.folder
            let finished = try command.run()
            #expect(finished.status == 7)
            #expect(finished.error == expected.error)
            #expect(
                finished.output == "--max-old-space-size=512 --no-warnings "
                    + "--perf-basic-prof-only-functions --interpreted-frames-native-stack\n")
            #expect(scratch.names == ["recording"])
            let report = try Recorded(path: scratch("recording"), finished: finished).text(
                "report", ["--full"])
            #expect(report.contains("--runtime node"))
        }

        @Test(.needs("node")) func theUsersOwnMapStays() throws {
            try scratch.write(
                "require('fs').writeFileSync(process.argv[2], process.pid + '\\n')", to: "app.js")
            for (words, options) in [
                (["node", "--perf-basic-prof-only-functions"], ""), (["node"], "--perf-basic-prof"),
            ] {
                var command = try Firstlight.recording(
                    words + [scratch("app.js"), scratch("truth")], to: scratch("recording"),
                    options: Self.asked, adding: ["NODE_OPTIONS": options])
                command.directory = scratch.folder
                #expect(try command.run().status == 0)
                let path = try map()
                #expect(access(path, F_OK) == 0)
                unlink(path)
            }
        }

        /// Modules that each take a known time.
        @Test(.needs("node")) func modulesAreNamed() throws {
            let work = "for (let i = 0, x = 0; i < 3e6; i++) x = (x + Math.sqrt(i) * i) % 7;"
            try FileManager.default.createDirectory(
                atPath: scratch("node_modules/dep"), withIntermediateDirectories: true)
            try scratch.write("require('dep');" + work, to: "app.js")
            try scratch.write("require('../../own');" + work, to: "node_modules/dep/index.js")
            try scratch.write(work + work, to: "own.js")
            let recorded = try Firstlight.record(
                ["node", scratch("app.js")], in: scratch, options: Self.asked)
            let folded = try recorded.folded("--weight", "wall")
            let outer = folded.nanoseconds(through: "import dep/index.js")
            let inner = folded.nanoseconds(through: "import own.js")
            #expect(inner > 0)
            #expect(outer > inner)
            for line in folded.lines where line.frames.contains("import own.js") {
                #expect(line.frames.contains("import dep/index.js"))
            }
            let text = try recorded.text("report", ["--view", "imports"])
            let lines = text.split(separator: "\n")
            let first = try #require(lines.firstIndex { $0.contains("import dep/index.js") })
            let second = try #require(lines.firstIndex { $0.contains("import own.js") })
            #expect(first < second)
        }

        /// A module of ECMAScript that was compiled from another language.
        @Test(.needs("node")) func sourceMapsAreFollowed() throws {
            let map = MadeSourceMap(
                sources: ["app.ts"], names: ["hotLoop"],
                [.init(0, 0, from: 0, 0, 0), .init(0, 9, from: 0, 41, 16, name: 0)])
            let script =
                "function a(n){let x=0;for(let i=0;i<n;i++)x=(x+Math.sqrt(i)*i)%7;return x}a(2e7)\n"
            try scratch.write(
                script + "//# sourceMappingURL=data:application/json;base64,"
                    + MadeSourceMap.base64(map.json) + "\n", to: "app.mjs")
            let recorded = try Firstlight.record(
                ["node", scratch("app.mjs")], in: scratch, options: Self.asked)
            let tree = try recorded.text("report", ["--view", "heaviest"])
            #expect(tree.contains("hotLoop"))
            #expect(tree.contains("app.ts:42"))
        }

        @Test func anUnknownRuntimeIsRefused() throws {
            let finished = try Firstlight.run("record", "--runtime", "perl", "true")
            #expect(finished.status == 125)
            #expect(
                finished.error == "firstlight: record: unknown runtime 'perl': it must be node\n")
        }
    }
}
