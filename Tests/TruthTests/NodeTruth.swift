import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension Measured {
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

        private static let functions = [
            "light", "heavy", "recursion", "generators", "callbacks", "objects", "exceptions",
            "cold", "waiting",
        ]

        private static let asked = ["--quiet", "--runtime", "node"]

        /// Time in JavaScript, and how much of it is in stacks with an unnamed function.
        private func unnamed(_ folded: Folded) -> (all: Int64, unnamed: Int64) {
            let script = folded.lines.filter { $0.frames.contains("Builtins_JSEntry") }
            let unnamed = script.filter { $0.frames.contains { $0.hasPrefix("0x") } }
            return (
                script.reduce(0) { $0 + $1.count }, unnamed.reduce(0) { $0 + $1.count }
            )
        }

        @Test(.needs("node")) func functionsTakeWhatTheyMeasured() throws {
            try scratch.write(Self.timed, to: "app.js")
            try Truth.of("node's functions") { figures in
                let recorded = try Firstlight.record(
                    ["node", scratch("app.js"), scratch("truth")], in: scratch, options: Self.asked)
                let truth = try scratch.truth()
                let wall = try recorded.folded("--weight", "wall", "--no-phase", "--no-thread")
                for name in Self.functions {
                    figures.check(name, wall.nanoseconds(through: name), truth: truth[name])
                }
                let (all, unnamed) = unnamed(wall)
                figures.check(
                    "without a name", 100 * Double(unnamed) / Double(max(1, all)), unit: "%",
                    most: 5)
            }
        }

        /// Modules that each take a known time: the inner one twice as much.
        @Test(.needs("node")) func modulesTakeWhatTheyTake() throws {
            let work = "for (let i = 0, x = 0; i < 3e6; i++) x = (x + Math.sqrt(i) * i) % 7;"
            try scratch.write("require('./dep');" + work, to: "app.js")
            try scratch.write("require('./own');" + work, to: "dep.js")
            try scratch.write(work + work, to: "own.js")
            try Truth.of("node's modules") { figures in
                let folded = try Firstlight.record(
                    ["node", scratch("app.js")], in: scratch, options: Self.asked
                ).folded("--weight", "wall")
                let outer = folded.nanoseconds(through: "import dep.js")
                let inner = folded.nanoseconds(through: "import own.js")
                figures.check("the inner one is longer", isSo: inner > outer - inner)
            }
        }
    }
}
