import Analysis
import MadeRecordings
import ProfileModel
import TestSupport
import Testing

/// Sums over launches equal those of the single launches, to the nanosecond.
@Suite struct TopSumTests {
    /// A function's cost in one launch, from its trees.
    private struct Expected: Hashable {
        var own = Cost.zero
        var total = Cost.zero
    }

    private func expected(_ profile: Profile) -> [String: Expected] {
        let tree = profile.topDown(Selection(isOfMainThread: true), weight: .wall)
        var result: [String: Expected] = [:]
        func visit(_ index: Int, _ callers: Set<String>) {
            let node = tree.nodes[index]
            let name = tree.function(of: node).name
            result[name, default: Expected()].own =
                result[name, default: Expected()].own + Cost(node.own)
            if !callers.contains(name) {
                result[name, default: Expected()].total =
                    result[name, default: Expected()].total + Cost(node.total)
            }
            for child in node.children { visit(child, callers.union([name])) }
        }
        for root in tree.roots { visit(root, []) }
        return result
    }

    private func summary(_ profiles: [Profile]) throws -> TopProgram {
        var sums = TopSums()
        for (index, profile) in profiles.enumerated() {
            sums.add(profile, TopLaunch(path: "\(index)", date: Int64(index)))
        }
        let programs = try TopSummary(sums).programs
        #expect(programs.count == 1)
        return try #require(programs.first)
    }

    @Test(arguments: seeds(8)) func functionsAddUp(seed: UInt64) throws {
        let profiles = (0..<5 as Range<UInt64>).map { RandomLaunch.profile(seed: seed * 31 + $0) }
        let program = try summary(profiles)
        let launches = profiles.map(expected)
        let functions = try #require(program.things[.function])
        #expect(Set(functions.map(\.function.name)).count == functions.count)
        let names = Set(launches.flatMap(\.keys))
        #expect(names.isSubset(of: functions.map(\.function.name)))
        for thing in functions where thing.function.name != "[not recorded]" {
            let costs = launches.map { $0[thing.function.name] }
            let sum = thing.figures.sum
            #expect(sum.own == costs.reduce(.zero) { $0 + ($1?.own ?? .zero) })
            #expect(sum.total == costs.reduce(.zero) { $0 + ($1?.total ?? .zero) })
            #expect(thing.figures.seen == costs.count { $0 != nil })
            #expect(thing.figures.launches == profiles.count)
            expectMean(thing.figures.own, costs.map { $0?.own.wall ?? .zero })
            expectMean(thing.figures.total, costs.map { $0?.total.wall ?? .zero })
        }
        // Nothing is lost, and nothing told twice.
        let own = functions.reduce(TimeSpan.zero) { $0 + $1.figures.sum.own.wall }
        #expect(own == profiles.reduce(.zero) { $0 + $1.launch.wall })
        #expect(own == program.wallSum)
        expectMean(program.wall, profiles.map(\.launch.wall))
    }

    /// By the textbook, from the launches one by one.
    private func expectMean(_ mean: MeanTime?, _ launches: [TimeSpan]) {
        let values = launches.map { Double($0.nanoseconds) }
        let average = values.reduce(0, +) / Double(values.count)
        let squares = values.reduce(0) { $0 + ($1 - average) * ($1 - average) }
        // Student's t of four degrees of freedom.
        #expect(values.count == 5)
        let margin = 2.776_445 * (squares / 4 / 5).squareRoot()
        #expect(mean.map { abs(Double($0.mean.nanoseconds) - average) <= 1 } == true)
        let found = mean?.margin.map { Double($0.nanoseconds) }
        #expect(found.map { abs($0 - margin) <= 1 + 1e-5 * margin } == true)
    }

    /// The parts of a launch are the launch.
    @Test(arguments: seeds(6)) func phasesAddUp(seed: UInt64) throws {
        let profiles = (0..<4 as Range<UInt64>).map { RandomLaunch.profile(seed: seed * 17 + $0) }
        var walls: [String: TimeSpan] = [:]
        for phase in profiles.flatMap(\.phases) {
            walls[phase.name, default: .zero] = walls[phase.name, default: .zero] + phase.wall
        }
        for (name, wall) in walls {
            var sums = TopSums(phase: name)
            for profile in profiles { sums.add(profile, TopLaunch(path: "", date: 0)) }
            let summary = try TopSummary(sums)
            #expect(summary.phase == name)
            let program = try #require(summary.programs.first)
            #expect(program.wallSum == wall && program.launches == profiles.count)
            let own = (program.things[.function] ?? []).reduce(TimeSpan.zero) {
                $0 + $1.figures.sum.own.wall
            }
            #expect(own == wall)
            #expect(program.things[.initializer] == nil && program.things[.library] == nil)
        }
    }

    /// In any order of versions, launches together are the same.
    @Test(arguments: seeds(4)) func versionsAddUp(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let recordings = (0..<6 as Range<UInt64>).map { number in
            var recording = RecordingBuilder.random(seed: seed * 13 + number)
            let build = UInt8.random(in: 1...3, using: &random)
            for index in recording.modules.indices { recording.modules[index].buildID = [build] }
            return recording
        }
        let program = try summary(recordings.map { Profile($0) })
        let builds = recordings.map { $0.modules.first?.buildID ?? [] }
        #expect(Set(program.versions.map(\.buildID)) == Set(builds))
        for (index, version) in program.versions.enumerated() {
            let own = recordings.indices.filter { builds[$0] == version.buildID }
            #expect(version.launches == own.count)
            #expect(version.first.path == "\(own.first ?? -1)")
            #expect(version.last.path == "\(own.last ?? -1)")
            // What the version has by itself.
            let alone = try summary(own.map { Profile(recordings[$0]) })
            let wanted = Dictionary(
                uniqueKeysWithValues: (alone.things[.function] ?? []).map {
                    ($0.function.name, $0.figures)
                })
            for thing in program.things[.function] ?? [] {
                let figures = thing.byVersion[index]
                #expect(figures.launches == own.count)
                #expect(figures.sum == wanted[thing.function.name]?.sum ?? .zero)
                #expect(figures.seen == wanted[thing.function.name]?.seen ?? 0)
            }
        }
        for thing in program.things[.function] ?? [] {
            let sum = thing.byVersion.reduce(TopCost.zero) { $0 + $1.sum }
            #expect(sum == thing.figures.sum)
            #expect(thing.byVersion.reduce(0) { $0 + $1.seen } == thing.figures.seen)
        }
    }

    /// Which launch comes first changes nothing but how things are called.
    @Test(arguments: seeds(3)) func orderDoesNotCount(seed: UInt64) throws {
        let profiles = (0..<5 as Range<UInt64>).map { RandomLaunch.profile(seed: seed * 7 + $0) }
        func sums(_ profiles: [Profile]) throws -> [String] {
            (try summary(profiles).things[.function] ?? []).map {
                "\($0.function.name) \($0.figures.sum) \($0.figures.seen)"
            }
        }
        #expect(try sums(profiles) == sums(profiles.reversed()))
    }
}
