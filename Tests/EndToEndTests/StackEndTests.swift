import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Where stacks end, and where they only seem to.
    @Suite struct StackEnds {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// The kernel's copy ends at a page that is not in memory.
        @Test(arguments: [[], ["--follow-children"], ["--capture", "ptrace"]])
        func aPageThatWasNeverTouched(options: [String]) throws {
            for depth in ["0", "2"] {
                let recorded = try Firstlight.record(
                    [try Setup.fixture("untouched"), "4000", depth], in: scratch,
                    options: ["--quiet"] + options)
                let folded = try recorded.folded("--weight", "cpu")
                #expect(folded.nanoseconds(through: "compute") > 0)
                for line in folded.lines where line.functions.contains("compute") {
                    let callers = line.functions.filter { ["main", "with_buffer"].contains($0) }
                    #expect(callers.first == "main" && callers.last == "with_buffer", "\(line)")
                }
            }
        }

        /// Nothing has called the function with which a stack that the program made itself begins.
        @Test func aStackOfTheProgramsOwnMaking() throws {
            let recorded = try Firstlight.record([try Setup.fixture("contexts")], in: scratch)
            let folded = try recorded.folded("--weight", "cpu", "--no-phase", "--no-thread")
            let turns = folded.lines.filter { $0.functions.contains("compute") }
            #expect(!turns.isEmpty)
            for line in turns {
                #expect(!line.functions.contains("main"), "\(line.functions)")
                #expect(!line.frames.contains("[truncated]"), "\(line.frames)")
                #expect(line.functions.filter { $0 == "body" }.count == 1, "\(line.functions)")
            }
        }

        private static let greenlets = """
            import greenlet
            def spin(n):
                s = 0
                for i in range(n): s += i * i
                return s
            def spin_one(n): return spin(n)
            def spin_two(n): return spin(n)
            def down(level, n): return spin_two(n) if level == 0 else down(level - 1, n)
            def one():
                while True:
                    spin_one(30000)
                    home.switch()
            def two():
                while True:
                    down(10, 30000)
                    home.switch()
            def start(function): return greenlet.greenlet(function)
            def drive():
                for _ in range(60):
                    first.switch()
                    second.switch()
            home = greenlet.getcurrent()
            first, second = start(one), start(two)
            drive()
            """

        private static let callers: [String: Set<String?>] = [
            "spin": ["spin_one", "spin_two"], "spin_one": ["one"], "spin_two": ["down"],
            "down": ["down", "two"], "one": [nil], "two": [nil],
        ]

        private static let hasGreenlets =
            (try? Command(["/usr/bin/python3", "-c", "import greenlet"]).run())?.status == 0

        /// The frame behind a greenlet's first function has not called it.
        @Test(.requires(hasGreenlets, "no greenlet module in /usr/bin/python3"))
        func aGreenletIsCalledByNobody() throws {
            let recorded = try Firstlight.record(
                ["/usr/bin/python3", "-c", Self.greenlets], in: scratch)
            let folded = try recorded.folded("--weight", "cpu")
            for name in ["spin_one", "spin_two"] {
                #expect(folded.nanoseconds(through: name) > 0, "\(name)")
            }
            for line in folded.lines {
                var caller: String?
                for function in line.functions {
                    if let known = Self.callers[function] {
                        #expect(known.contains(caller), "\(line.functions)")
                    }
                    if Self.callers[function] != nil || ["drive", "<module>"].contains(function) {
                        caller = function
                    }
                }
            }
        }
    }
}
