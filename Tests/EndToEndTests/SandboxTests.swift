import EndToEndSupport
import TestSupport
import Testing

extension EndToEnd {
    /// Programs that forbid themselves most system calls: a call by our code would kill them.
    @Suite struct Sandboxes {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func compare(_ words: [String]) throws {
            try SideBySide(scratch: scratch).compare(fixture: words)
        }

        @Test(arguments: ["filter", "strict", "strict-call", "tsync", "fork-exec", "exec", "child"])
        func theyBreakNoRule(mode: String) throws { try compare(["sandbox", mode]) }

        /// A request for a sample may be under way just when the rules begin.
        @Test(arguments: 0..<4) func atAnyMoment(seed: UInt64) throws {
            var numbers = SeededNumbers(seed: seed)
            let moment = String(Int.random(in: 5...40, using: &numbers))
            try compare(["sandbox", "filter", moment])
            try compare(["sandbox", "strict", moment])
            try compare(["sandbox", "strict-call", moment])
        }
    }
}
