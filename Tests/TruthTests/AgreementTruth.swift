import EndToEndSupport
import TestSupport
import Testing

extension Measured {
    /// Both ways to take stacks see the same program.
    @Suite struct Agreement {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// How far two shares may be apart, in percentage points.
        private static let tolerance = 2.0

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

        private func compare(
            _ weight: String, _ first: [[String]: Double], _ second: [[String]: Double],
            into figures: inout Truth
        ) {
            for path in Set(first.keys).union(second.keys) {
                let (one, other) = (first[path] ?? 0, second[path] ?? 0)
                figures.check(
                    "\(weight) \(path.joined(separator: ";"))", one, unit: "%", truth: other,
                    least: other - Self.tolerance, most: other + Self.tolerance)
            }
        }

        /// Each function is called from only one place, so its leaf's share is its own work.
        private func compareWithTruth(_ shares: [[String]: Double], into figures: inout Truth)
            throws
        {
            for (function, thousandths) in try scratch.truth() {
                let nodes = shares.filter { $0.key.last == function }
                let total = nodes.values.reduce(0, +)
                let callees = shares.filter { $0.key.dropLast().last == function }
                let own = total - callees.values.reduce(0, +)
                let truth = Double(thousandths) / 10
                figures.check(
                    function, nodes.count == 1 ? own : nil, unit: "%", truth: truth,
                    least: truth - Self.tolerance, most: truth + Self.tolerance)
            }
        }

        @Test func theTreesAreTheSame() throws {
            try Truth.of("both captures") { figures in
                let signal = try record(capture: "signal")
                let ptrace = try record(capture: "ptrace")
                compare("cpu", signal.cpu, ptrace.cpu, into: &figures)
                compare("wall", signal.wall, ptrace.wall, into: &figures)
                try compareWithTruth(signal.cpu, into: &figures)
                try compareWithTruth(ptrace.cpu, into: &figures)
            }
        }
    }
}
