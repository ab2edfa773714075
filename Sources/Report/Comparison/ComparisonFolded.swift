package import Analysis
import Exports
import ProfileModel

extension ComparisonReport {
    /// The main thread's wall time as stacks of both launches, in the format of difffolded.pl:
    /// `phase;outer;…;inner BEFORE AFTER`, in whole microseconds. Lines are sorted by their text,
    /// and each ends with a line break.
    ///
    /// Each column adds up to the phases' walls, rounded once, except for time that a damaged
    /// recording has twice.
    ///
    /// - Parameter phases: positions in the comparison's list; nil: all.
    package static func folded(
        _ comparison: ProfileComparison, phases: Set<Int>? = nil
    ) -> String {
        var lines: [String: Compared<TimeSpan>] = [:]
        let functions = comparison.functions.functions.map { FoldedStacks.element($0) }
        for (index, phase) in comparison.phases.enumerated()
        where phases?.contains(index) ?? true {
            var stacks = [String](repeating: "", count: phase.topDown.nodes.count)
            let root = FoldedStacks.element(phase.name)
            // Callers precede callees.
            for (position, node) in phase.topDown.nodes.enumerated() {
                let caller = node.parent.map { stacks[$0] } ?? root
                let stack = caller + ";" + functions[Int(node.function.rawValue)]
                stacks[position] = stack
                let own = node.own.map { max(.zero, $0.wall) }
                if own != .zero { lines[stack] = (lines[stack] ?? .zero) + own }
            }
        }
        return counted(lines)
    }

    private static func counted(_ lines: [String: Compared<TimeSpan>]) -> String {
        var result = ""
        var sum = Compared<TimeSpan>.zero
        var written = Compared<Int64>(before: 0, after: 0)
        for (stack, own) in lines.sorted(by: { $0.key < $1.key }) {
            sum = sum + own
            let reached = sum.map { FoldedStacks.microseconds($0) }
            let count = reached - written
            guard count.before > 0 || count.after > 0 else { continue }
            written = reached
            result += "\(stack) \(count.before) \(count.after)\n"
        }
        return result
    }
}
