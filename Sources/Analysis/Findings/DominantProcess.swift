import ProfileModel

/// One child has most of the launch. The main thread waits for it, or for a thread that waits for it, and the
/// child does more than wait for children of its own. How many others there are does not matter then.
struct DominantProcess: FindingRule {
    /// Of the launch, up to readiness: it has more.
    private static let mostShare = 0.5
    /// How much of its own life it may wait for children of which one has less than ``mostShare``.
    private static let mostPassedOn = 0.5

    func findings(in search: inout FindingSearch) -> [Finding] {
        let tree = AwaitedProcesses(search)
        let least = TimeSpan(
            nanoseconds: Int64(Double(search.end.nanoseconds) * Self.mostShare))
        guard let process = Self.dominant(in: tree, least: max(least, search.least)) else {
            return []
        }
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

    /// The innermost process that has so much; nil: none has, or it has it of many children.
    private static func dominant(in tree: AwaitedProcesses, least: TimeSpan) -> Int? {
        var found: (process: Int, length: TimeSpan)?
        while true {
            let children = found.map { tree.children[$0.process] } ?? tree.children.first ?? []
            let next = children.map { (process: $0, length: tree.windows(orBusy: $0).length) }
                .max { ($0.length, $1.process) < ($1.length, $0.process) }
            guard let next, next.length > least else { break }
            found = next
        }
        guard let (found, length) = found else { return nil }
        let passedOn = TimeWindows(tree.children[found].flatMap { tree.windows(orBusy: $0).ranges })
        return Double(passedOn.length.nanoseconds)
            <= mostPassedOn * Double(length.nanoseconds) ? found : nil
    }

    /// What all of its threads did most; where it computed little, what it waited for.
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
