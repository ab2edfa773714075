import Analysis
import ProfileModel
import TestSupport
import Testing

/// Differences add up exactly, whatever was recorded.
@Suite struct ComparisonSumTests {
    private static let pairs = seeds(6).map { ($0, $0 &* 7 &+ 100) }

    @Test(arguments: pairs) func everythingAddsUp(before: UInt64, after: UInt64) {
        let comparison = ProfileComparison(
            before: RandomLaunch.profile(seed: before), after: RandomLaunch.profile(seed: after))
        let sum = comparison.phases.reduce(Compared<TimeSpan>.zero) { $0 + $1.wall }
        #expect(sum == comparison.wall)
        for phase in comparison.phases {
            expectSums(phase)
            expectConsistent(phase.topDown)
            expectChanges(phase, least: comparison.leastChange)
        }
    }

    /// Means of several launches add up, too, whatever is rounded.
    @Test(arguments: pairs) func meansAddUp(before: UInt64, after: UInt64) {
        let counts = Compared(before: 1 + Int(before % 4), after: 1 + Int(after % 3))
        let comparison = Self.several(before: before, after: after, counts)
        let sum = comparison.phases.reduce(Compared<TimeSpan>.zero) { $0 + $1.wall }
        #expect(sum == comparison.wall)
        for side in Side.allCases {
            let walls = comparison.launches[side].map(\.launch.wall.nanoseconds)
            #expect(comparison.wall[side].nanoseconds == walls.reduce(0, +) / Int64(walls.count))
        }
        for phase in comparison.phases {
            expectSums(phase)
            expectConsistent(phase.topDown)
        }
        #expect(comparison.knowsSpread == (counts.before > 1 && counts.after > 1))
    }

    private static func several(
        before: UInt64, after: UInt64, _ counts: Compared<Int>
    ) -> ProfileComparison {
        func others(_ seed: UInt64, _ count: Int) -> [Profile] {
            (1..<max(1, count)).map { RandomLaunch.profile(seed: seed &+ UInt64($0) &* 31) }
        }
        return ProfileComparison(
            first: Compared(
                before: RandomLaunch.profile(seed: before), after: RandomLaunch.profile(seed: after)
            ),
            others: Compared(
                before: others(before, counts.before), after: others(after, counts.after)))
    }

    /// Three times the same launch is that launch, and all its differences are sure.
    @Test(arguments: seeds(5)) func theSameLaunchAgain(seed: UInt64) {
        let profiles = Compared(
            before: RandomLaunch.profile(seed: seed), after: RandomLaunch.profile(seed: seed &+ 500)
        )
        let single = ProfileComparison(before: profiles.before, after: profiles.after)
        let several = ProfileComparison(first: profiles, others: profiles.map { [$0, $0] })
        #expect(several.wall == single.wall && several.leastChange == single.leastChange)
        #expect(several.phases.map(\.wall) == single.phases.map(\.wall))
        for (one, other) in zip(several.phases, single.phases) {
            #expect(one.changes.map(\.cost) == other.changes.map(\.cost))
            #expect(one.topDown.nodes.map(\.total) == other.topDown.nodes.map(\.total))
        }
        #expect(several.waits.map(\.durations) == single.waits.map(\.durations))
        #expect(several.libraries.map(\.wall) == single.libraries.map(\.wall))
        #expect(several.initializers.map(\.wall) == single.initializers.map(\.wall))
        #expect(several.findings.map(\.saving) == single.findings.map(\.saving))
        #expect(several.findings.map(\.status) == single.findings.map(\.status))
    }

    private func expectSums(_ phase: ComparedPhase) {
        let own = phase.topDown.nodes.reduce(Compared<Cost>.zero) { $0 + $1.own }
        #expect(own.map(\.wall) == phase.wall)
        #expect(own.difference.wall == phase.wall.difference)
        let roots = phase.topDown.roots.reduce(Compared<Cost>.zero) {
            $0 + phase.topDown.nodes[$1].total
        }
        #expect(roots == own)
        #expect(phase.functions.reduce(.zero) { $0 + $1.own } == own)
        let ends = phase.bottomUp.roots.map { phase.bottomUp.nodes[$0] }
        #expect(ends.reduce(.zero) { $0 + $1.own } == own)
        #expect(ends.count == phase.functions.filter { $0.own != .zero }.count)
    }

    private func expectConsistent(_ tree: ComparedTree) {
        for (index, node) in tree.nodes.enumerated() {
            let below = node.children.reduce(Compared<Cost>.zero) { $0 + tree.nodes[$1].total }
            #expect(node.own + below == node.total)
            #expect(node.children.allSatisfy { tree.nodes[$0].parent == index })
            #expect(node.parent.map { $0 < index } ?? tree.roots.contains(index))
        }
    }

    /// No time counts twice, and the unexplained rest is too small for a change.
    private func expectChanges(_ phase: ComparedPhase, least: TimeSpan) {
        let explained = phase.changes.reduce(Compared<Cost>.zero) { $0 + $1.cost }
        let rest = phase.wall.difference - explained.difference.wall
        #expect(rest.magnitude < least.magnitude * UInt64(phase.topDown.roots.count + 1))
        #expect(Set(phase.changes.map(\.node)).count == phase.changes.count)
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func nothingDiffersFromItself(seed: UInt64) {
        let profile = RandomLaunch.profile(seed: seed)
        let comparison = ProfileComparison(before: profile, after: profile)
        #expect(comparison.wall.difference == .zero)
        for phase in comparison.phases {
            #expect(phase.isCommon)
            #expect(phase.changes.isEmpty)
            #expect(phase.topDown.nodes.allSatisfy { $0.total.difference == .zero })
            #expect(phase.topDown.nodes.allSatisfy { !$0.isOneSided })
        }
        #expect(comparison.findings.allSatisfy { $0.status == .same })
    }

    /// A saving in one direction is a loss in the other.
    @Test(arguments: seeds(5)) func theOtherWayRound(seed: UInt64) {
        let profiles = (RandomLaunch.profile(seed: seed), RandomLaunch.profile(seed: seed &+ 500))
        let forth = ProfileComparison(before: profiles.0, after: profiles.1)
        let back = ProfileComparison(before: profiles.1, after: profiles.0)
        func changes(_ comparison: ProfileComparison, _ sign: Int64) -> Set<String> {
            var result: Set<String> = []
            for phase in comparison.phases {
                for function in phase.functions {
                    let name = comparison.functions[function.function].name
                    let wall = function.own.difference.wall.nanoseconds * sign
                    result.insert("\(phase.name) \(name) \(wall)")
                }
            }
            return result
        }
        #expect(changes(forth, 1) == changes(back, -1))
    }
}
