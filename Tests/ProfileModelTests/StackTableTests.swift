import ProfileModel
import TestSupport
import Testing

@Suite struct StackTableTests {
    private static func frame(_ value: UInt64, module: Int? = 0) -> FrameAddress {
        FrameAddress(
            module: module.map { ModuleIndex($0) }, address: CodeAddress(value, .returnAddress))
    }

    @Test func equalStacksShareOneHandle() {
        var table = StackTable()
        let one = table.intern(outermostFirst: [Self.frame(1), Self.frame(2)])
        let same = table.intern(outermostFirst: [Self.frame(1), Self.frame(2)])
        #expect(one == same)
        #expect(table.nodes.count == 2)
    }

    @Test func aCallersStackIsStoredOnce() {
        var table = StackTable()
        let caller = table.intern(parent: nil, frame: Self.frame(1))
        let first = table.intern(parent: caller, frame: Self.frame(2))
        let second = table.intern(parent: caller, frame: Self.frame(3))
        #expect(first != second)
        #expect(table.nodes.count == 3)
        #expect(table[first].parent == caller && table[second].parent == caller)
    }

    @Test func moduleKindAndCallerTellFramesApart() {
        var table = StackTable()
        let value: UInt64 = 0x1000
        let ids = Set([
            table.intern(parent: nil, frame: Self.frame(value)),
            table.intern(parent: nil, frame: Self.frame(value, module: 1)),
            table.intern(parent: nil, frame: Self.frame(value, module: nil)),
            table.intern(
                parent: nil,
                frame: FrameAddress(
                    module: ModuleIndex(0), address: CodeAddress(value, .instruction))),
            table.intern(parent: StackID(0), frame: Self.frame(value)),
        ])
        #expect(ids.count == 5)
    }

    @Test func noFramesAreNoStack() {
        var table = StackTable()
        #expect(table.intern(outermostFirst: []) == nil)
        #expect(table.nodes.isEmpty)
    }

    @Test func randomStacksComeBackAsTheyWere() {
        var random = SeededNumbers(seed: 4)
        var table = StackTable()
        var stacks: [StackID: [FrameAddress]] = [:]
        for _ in 0..<1000 {
            // Few different frames: recursion and shared callers abound.
            let frames = (0..<Int.random(in: 1...20, using: &random)).map { _ in
                Self.frame(
                    UInt64.random(in: 0...3, using: &random),
                    module: [nil, 0, 1].randomElement(using: &random) ?? nil)
            }
            guard let id = table.intern(outermostFirst: frames) else {
                Issue.record("a stack of \(frames.count) frames has no handle")
                continue
            }
            if let known = stacks[id] { #expect(known == frames) }
            stacks[id] = frames
        }
        for (id, frames) in stacks { #expect(table.frames(of: id) == frames) }
        // Unique, and each parent before its children.
        #expect(Set(table.nodes).count == table.nodes.count)
        for (position, node) in table.nodes.enumerated() {
            #expect((node.parent?.rawValue ?? -1) < position)
        }
    }

    /// Whatever the addresses have in common: position and handle are those of a dictionary.
    @Test(arguments: 1...10) func handlesAreThoseOfADictionary(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var table = StackTable()
        var known: [StackTable.Node: StackID] = [:]
        let shift = UInt64.random(in: 0...62, using: &random)
        for _ in 0..<5000 {
            let parent = (0..<Int32(table.nodes.count)).randomElement(using: &random)
                .flatMap { Int.random(in: 0..<8, using: &random) == 0 ? nil : StackID($0) }
            let value = UInt64.random(in: 0...3, using: &random) << shift
            let frame = FrameAddress(
                module: [nil, 0, 1 << 40].randomElement(using: &random)?.map { ModuleIndex($0) },
                address: CodeAddress(
                    value, Bool.random(using: &random) ? .instruction : .returnAddress))
            let id = table.intern(parent: parent, frame: frame)
            let node = StackTable.Node(parent: parent, frame: frame)
            #expect(id == known[node] ?? StackID(Int32(known.count)))
            known[node] = id
            #expect(table[id] == node)
        }
        #expect(table.nodes.count == known.count)
    }

    @Test func aDeepRecursionIsAStackLikeAnyOther() {
        var table = StackTable()
        let frames = [FrameAddress](repeating: Self.frame(7), count: 100_000)
        let id = table.intern(outermostFirst: frames)
        #expect(table.nodes.count == frames.count)
        #expect(id.map { table.frames(of: $0).count } == frames.count)
    }
}
