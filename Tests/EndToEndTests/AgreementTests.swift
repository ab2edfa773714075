import EndToEndSupport
import TestSupport
import Testing

extension EndToEnd {
    /// Both ways to take stacks see the same program.
    @Suite struct Agreement {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// The result of a run: each tree's nodes, by their paths, with their shares of Main in
        /// percent.
        private struct Shares {
            var cpu: [[String]: Double]
            var wall: [[String]: Double]
        }

        private func record(capture: String) throws -> Shares {
            let recorded = try Firstlight.record(
                [try Setup.fixture("agree")], in: scratch,
                options: ["--quiet", "--capture", capture],
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
            let report = try recorded.json()
            #expect(report.launch.capture == capture)
            #expect(report.brokenSums.isEmpty)
            return Shares(
                cpu: shares(try recorded.folded("--phase", "Main", "--no-phase", "--no-thread")),
                wall: shares(
                    try recorded.folded(
                        "--phase", "Main", "--no-phase", "--no-thread", "--weight", "wall")))
        }

        /// Every prefix of a stack is a node of the tree.
        private func shares(_ folded: Folded) -> [[String]: Double] {
            var shares: [[String]: Double] = [:]
            for line in folded.lines {
                for depth in line.frames.indices {
                    shares[Array(line.frames[...depth]), default: 0] +=
                        100 * Double(line.count) / Double(max(folded.total, 1))
                }
            }
            return shares
        }

        /// Each function is called from only one place, so it has one node; the truth knows its name.
        private func expectNoInventions(_ shares: [[String]: Double]) throws {
            let truth = try scratch.truth()
            #expect(truth.count == 16)
            for function in truth.keys {
                let nodes = shares.filter { $0.key.last == function }
                #expect(nodes.count <= 1, "\(function): \(nodes)")
            }
            let largest = try #require(truth.max { $0.value < $1.value }?.key)
            #expect(shares.contains { $0.key.last == largest })
        }

        @Test func everyFunctionHasOneCaller() throws {
            for capture in ["signal", "ptrace"] {
                let shares = try record(capture: capture)
                try expectNoInventions(shares.cpu)
                try expectNoInventions(shares.wall)
            }
        }
    }
}
