package import ProfileModel

/// The dynamic linker has a large part of the launch, before any code of the program runs: it maps
/// libraries, and resolves the symbols that they use of each other.
struct DynamicLinking: FindingRule {
    /// The least share of the launch, up to readiness.
    private static let leastShare = 0.25
    /// The cost that every program pays is no finding.
    private static let leastEffort = TimeSpan.milliseconds(10)

    func findings(in search: inout FindingSearch) -> [Finding] {
        let phases = search.profile.wholePhases.filter { $0.name == Phase.Names.linking }
        let whole = TimeWindows(phases.map { search.window(from: $0.start, to: $0.end) })
        let windows = search.unclaimed(whole)
        let least = TimeSpan(nanoseconds: Int64(Double(search.end.nanoseconds) * Self.leastShare))
        guard let range = windows.span, windows.length >= max(least, search.least),
            search.effort(in: windows) >= max(Self.leastEffort, search.least)
        else { return [] }
        let selection = search.mainThread(in: windows)
        let stack = search.profile.heaviestStack(selection, weight: .cpu)
        let frames = stack.entries.map(\.frame)
        guard let place = Self.place(in: stack, search) else { return [] }
        search.claim(windows)
        let evidence = LinkingEvidence(
            libraries: search.profile.libraries.count(where: \.isInitial),
            cpu: search.profile.times(in: selection).running,
            relocating: Self.relocating(search.profile.topDown(selection, weight: .cpu)))
        return [
            Finding(
                subject: .dynamicLinking(evidence), saving: windows.length,
                thread: search.mainThread(at: range.lowerBound), range: range, place: place,
                stack: frames)
        ]
    }

    /// The linker's function with most of the time.
    private static func place(in stack: HeaviestStack, _ search: FindingSearch) -> FrameID? {
        let half = stack.weight.of(stack.total).nanoseconds / 2
        return stack.entries.last { stack.weight.of($0.total).nanoseconds >= half }?.frame
            ?? stack.entries.first?.frame
    }

    /// The CPU time of the linker's function that relocates a library.
    private static func relocating(_ tree: CallTree) -> TimeSpan {
        var (sum, pending) = (TimeSpan.zero, Array(tree.roots))
        while let node = pending.popLast() {
            if relocators.contains(tree.function(of: tree.nodes[node]).name) {
                sum = sum + tree.nodes[node].total.running
            } else {
                pending += tree.nodes[node].children
            }
        }
        return sum
    }

    /// The functions of glibc and musl.
    private static let relocators: Set<String> = ["_dl_relocate_object", "reloc_all"]
}

package struct LinkingEvidence: Hashable, Sendable {
    /// The number of libraries loaded before `main`; 0: not known.
    package var libraries: Int
    package var cpu: TimeSpan
    /// Part of `cpu`: looking up symbols, and writing their addresses. Zero: no sample shows it.
    package var relocating: TimeSpan
}
