import ProfileModel

/// One child has a large part of the launch. The main thread waits for it, or for a thread that
/// waits for it, and the child does more than wait for children of its own. The number of other
/// children does not matter then.
struct DominantProcess: FindingRule {
    /// The least share of the launch, up to readiness.
    private static let leastShare = 0.5
    /// The same for a process that, with its descendants, computes most of the time in which it is
    /// waited for, and has a large part of the launch's CPU time. It is a subject of its own,
    /// however many others there are.
    private static let leastShareOfBusy = 1.0 / 3
    private static let leastBusy = 0.5
    private static let leastOfCPU = 0.3
    /// The largest share of its own life that it may wait for children that each have less than
    /// ``leastShare``.
    private static let mostPassedOn = 0.5

    func findings(in search: inout FindingSearch) -> [Finding] {
        let tree = AwaitedProcesses(search)
        guard let process = Self.dominant(in: tree, of: search) else { return [] }
        let windows = search.unclaimed(tree.windows(orBusy: process))
        guard windows.length >= search.least, let range = windows.span,
            let thread = search.profile.leader(of: search.profile.processes[process])
        else { return [] }
        let (stack, place) = Self.work(of: process, thread, in: windows, search)
        guard let place else { return [] }
        search.claim(windows)
        return [
            Finding(
                subject: .dominantProcess(process), saving: windows.length, thread: thread,
                range: range, place: place, stack: stack)
        ]
    }

    /// The innermost process with such a share; nil: none has, or only many children together have
    /// it.
    private static func dominant(in tree: AwaitedProcesses, of search: FindingSearch) -> Int? {
        let end = Double(search.end.nanoseconds)
        let whole = Double(search.profile.launch.cpu.nanoseconds)
        func isBusy(_ process: Int, _ length: TimeSpan) -> Bool {
            let cpu = Double(tree.cpu[process].nanoseconds)
            return cpu >= leastBusy * Double(length.nanoseconds) && cpu >= leastOfCPU * whole
        }
        var found: (process: Int, length: TimeSpan)?
        while true {
            let children = found.map { tree.children[$0.process] } ?? tree.children.first ?? []
            let large: [(process: Int, length: TimeSpan)] = children.map {
                (process: $0, length: tree.windows(orBusy: $0).length)
            }
            .filter { process, length in
                let share = isBusy(process, length) ? leastShareOfBusy : leastShare
                return length >= search.least && Double(length.nanoseconds) > share * end
            }
            // The members of a pipeline all live as long; the one that computes makes the others
            // wait.
            let next =
                large.first(where: { isBusy($0.process, $0.length) })
                ?? large.max(by: { ($0.length, $1.process) < ($1.length, $0.process) })
            guard let next else { break }
            found = next
        }
        guard let (found, length) = found else { return nil }
        let passedOn = TimeWindows(tree.children[found].flatMap { tree.windows(orBusy: $0).ranges })
        return Double(passedOn.length.nanoseconds)
            <= mostPassedOn * Double(length.nanoseconds) ? found : nil
    }

    /// The stack that its threads had most; where they computed little, the stack in which its
    /// first thread waited most.
    private static func work(
        of process: Int, _ thread: Int, in windows: TimeWindows, _ search: FindingSearch
    ) -> (stack: [FrameID], place: FrameID?) {
        let threads = Set(search.profile.processes[process].threads)
        let selection = Selection(threads: threads, windows: windows)
        let running = search.profile.times(in: selection).running
        let own = search.profile.times(in: Selection(threads: [thread], windows: windows))
        let isWaiting = running < own.blocked
        let stack =
            isWaiting
            ? search.heaviestStack(of: thread, in: windows, by: .wall)
            : search.profile.heaviestStack(selection, weight: .cpu)
        let frames = stack.entries.map(\.frame)
        return (frames, search.profile.centre(of: stack) ?? search.place(in: frames))
    }
}
