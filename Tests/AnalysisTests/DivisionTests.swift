import Analysis
import MadeRecordings
import ProfileModel
import Testing

@Suite struct DivisionTests {
    private func launch() -> RecordingBuilder {
        var builder = RecordingBuilder(images: [("/home/dev/app", 10)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 10)
        builder.border(.relocated, 20)
        builder.border(.main, 30)
        builder.border(.ended, 40)
        return builder
    }

    @Test func sliceOverBordersIsDividedInProportion() {
        var builder = launch()
        let main = builder.thread("app", tid: 100, from: 10, to: 40, isMain: true)
        builder.slice(main, at: 15, running: 10, blocked: 10, builder.stack("main"))
        let phases = Profile(builder.recording).phases
        #expect(phases.map(\.cpu.nanoseconds) == [0, 2_500_000, 5_000_000, 2_500_000])
        #expect(phases[2].mainThread.blocked == .milliseconds(5))
    }

    @Test func timeOutsideOfTheLaunchIsLeftOut() {
        var builder = launch()
        let main = builder.thread("app", tid: 100, from: -10, to: 60, isMain: true)
        builder.slice(main, at: -10, running: 20, builder.stack("main"))
        builder.slice(main, at: 30, running: 30, builder.stack("main"))
        let profile = Profile(builder.recording)
        #expect(profile.phases.map(\.cpu) == [10, 0, 0, 10].map { .milliseconds($0) })
        #expect(profile.threads[0].start == .zero)
        #expect(profile.threads[0].end == .milliseconds(40))
    }

    @Test func slicesFromBeforeExecAreNotCounted() {
        var builder = launch()
        let main = builder.thread("app", tid: 100, to: 40, isMain: true)
        builder.slice(main, at: 0, running: 10, nil)
        builder.slice(main, at: 10, running: 10, builder.stack("main"))
        builder.slice(main, at: 20, running: 10, nil, truncation: .lost)
        builder.slice(main, at: 30, running: 10, builder.stack("main"), truncation: .noRule)
        let profile = Profile(builder.recording)
        #expect(profile.launch.slices == 3)
        #expect(profile.launch.truncations == [.lost: 1, .noRule: 1])
        #expect(profile.launch.truncatedStacks == 2)
        #expect(profile.launch.cpu == .milliseconds(40))
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func everySumIsExact(seed: UInt64) {
        let recording = RecordingBuilder.random(seed: seed)
        let profile = Profile(recording)
        let all = recording.slices.reduce(StateTimes.zero) { $0 + $1.times }

        #expect(profile.times(in: .all) == all)
        #expect(profile.launch.cpu == all.running)
        #expect(profile.phases.reduce(.zero) { $0 + $1.wall } == profile.launch.wall)
        for (index, thread) in profile.threads.enumerated() {
            #expect(thread.times.wall == thread.end - thread.start)
            #expect(thread.times == profile.timesByThread(in: .all)[index])
        }
        for (index, phase) in profile.phases.enumerated() {
            let selection = Selection(phases: [index])
            for times in profile.timesByThread(in: selection) {
                #expect(times.wall <= phase.wall)
                #expect(times.running >= .zero && times.runnable >= .zero)
                #expect(times.preempted >= .zero && times.blocked >= .zero)
            }
            #expect(profile.times(in: selection).running == phase.cpu)
            for weight in Weight.allCases {
                let expected = weight.of(profile.times(in: selection))
                let topDown = profile.topDown(selection, weight: weight)
                let bottomUp = profile.bottomUp(selection, weight: weight)
                #expect(weight.of(topDown.total) == expected)
                #expect(weight.of(bottomUp.total) == expected)
                expectOrdered(topDown)
                expectOrdered(bottomUp)
                expectComplete(topDown)
                let sum = { (tree: CallTree) in
                    tree.nodes[tree.roots].reduce(.zero) { $0 + weight.of($1.total) }
                }
                #expect(sum(topDown) == expected)
                #expect(sum(bottomUp) == expected)
                expectHeaviest(profile.heaviestStack(selection, weight: weight), of: topDown)
                let own = profile.functions(selection, orderedBy: weight)
                    .reduce(StateTimes.zero) { $0 + $1.own }
                #expect(own == profile.times(in: selection))
                let stacks = profile.weighedStacks(selection, weight: weight)
                #expect(stacks.reduce(.zero) { $0 + $1.weight } == expected)
            }
        }
    }

    private func expectOrdered(_ tree: CallTree) {
        func weight(_ node: Int) -> TimeSpan { tree.weight.of(tree.nodes[node].total) }
        for range in [tree.roots] + tree.nodes.map(\.children) {
            for (node, next) in zip(range, range.dropFirst()) {
                #expect(weight(node) >= weight(next))
            }
        }
    }

    private func expectHeaviest(_ stack: HeaviestStack, of tree: CallTree) {
        var siblings = tree.roots
        if let root = siblings.first, tree.function(of: tree.nodes[root]) == .noStack {
            siblings = siblings.dropFirst()
        }
        var path: [CallTree.Node] = []
        while let node = siblings.first.map({ tree.nodes[$0] }) {
            path.append(node)
            siblings = node.children
        }
        #expect(stack.entries.map(\.frame) == path.map(\.frame))
        #expect(stack.entries.map(\.total) == path.map(\.total))
        #expect(stack.total == tree.total)
    }

    /// Each node is its own time and its children's.
    private func expectComplete(_ tree: CallTree) {
        for node in tree.nodes {
            let children = node.children.reduce(TimeSpan.zero) {
                $0 + tree.weight.of(tree.nodes[$1].total)
            }
            #expect(tree.weight.of(node.own) + children == tree.weight.of(node.total))
        }
    }

    @Test func sameRecordingGivesTheSameAnswers() {
        let recording = RecordingBuilder.random(seed: 99)
        let (first, second) = (Profile(recording), Profile(recording))
        #expect(first.topDown(weight: .wall).nodes == second.topDown(weight: .wall).nodes)
        #expect(
            first.functions(orderedBy: .cpu) == second.functions(orderedBy: .cpu))
        #expect(
            first.weighedStacks(weight: .wall).map(\.frames)
                == second.weighedStacks(weight: .wall).map(\.frames))
    }
}
