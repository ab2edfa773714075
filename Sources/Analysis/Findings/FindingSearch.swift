import ProfileModel

/// A rule looks for one kind of finding.
protocol FindingRule: Sendable {
    init()
    /// Claims the time of its findings, so that no other rule claims it again.
    func findings(in search: inout FindingSearch) -> [Finding]
}

/// The main thread's time from the launch's start until the program was ready, and how much of it
/// is not yet explained.
struct FindingSearch {
    let profile: Profile
    /// When the program was ready; otherwise when the launch was over.
    let end: TimeSpan
    /// A finding must save at least this.
    let least: TimeSpan
    private(set) var claimed = TimeWindows([])
    /// Positions in the profile's waits, by thread.
    private let waits: [[Int]]

    static let most = 10
    private static let leastTime = TimeSpan.milliseconds(5)
    private static let leastShare = 0.02

    /// A function with at least this share of its CPU time in one callee only passes the work on.
    static let passedOn = 0.995

    /// The order in which rules may claim time: the most informative comes first.
    private static let rules: [any FindingRule.Type] = [
        Deadlocks.self, LockContention.self, UnawaitedProcesses.self, DominantProcess.self,
        ProcessStarts.self,
        ChildrenInSequence.self,
        AwaitedWaits.self, MainThreadWaits.self, ShortWaits.self,
        DynamicLinking.self, HeavyInitializers.self, GoInitializers.self, UncachedBytecode.self,
        UnusedImports.self,
        RepeatedImports.self,
        MainThreadLoading.self, ScriptLoading.self,
        UnusedLibraries.self, MainThreadWork.self, OtherInversions.self,
        UnoptimizedBuild.self, DebugLibraries.self,
    ]

    /// nil: no main thread is known, or the launch has no length.
    init?(_ profile: Profile) {
        guard !profile.mainThread.segments.isEmpty else { return nil }
        let end = min(profile.ready?.time ?? profile.launch.wall, profile.launch.wall)
        guard end > .zero else { return nil }
        self.profile = profile
        self.end = end
        var waits = [[Int]](repeating: [], count: profile.threads.count)
        for (index, wait) in profile.waits.enumerated() where waits.indices ~= wait.thread {
            waits[wait.thread].append(index)
        }
        self.waits = waits
        least = max(
            Self.leastTime, TimeSpan(nanoseconds: Int64(Double(end.nanoseconds) * Self.leastShare)))
    }

    mutating func findings() -> [Finding] {
        var found: [Finding] = []
        for rule in Self.rules { found += rule.init().findings(in: &self) }
        let order = found.indices.sorted { (found[$1].saving, $0) < (found[$0].saving, $1) }
        return order.prefix(Self.most).map { found[$0] }
    }

    /// In the order of their starts.
    func waits(of thread: Int) -> some Sequence<WaitFigures> {
        (waits.indices ~= thread ? waits[thread] : []).lazy.map { [profile] in profile.waits[$0] }
    }

    // MARK: Time

    /// The part of a stretch before readiness.
    func window(from start: TimeSpan, to end: TimeSpan) -> Range<TimeSpan> {
        let first = min(max(start, .zero), self.end)
        return first..<max(first, min(end, self.end))
    }

    /// The part of the windows that no rule has claimed yet.
    func unclaimed(_ windows: TimeWindows) -> TimeWindows { windows.subtracting(claimed) }

    mutating func claim(_ windows: TimeWindows) {
        claimed = TimeWindows(claimed.ranges + windows.ranges)
    }

    /// All time that no rule has claimed.
    var rest: TimeWindows { unclaimed(TimeWindows([.zero..<end])) }

    /// The time in which the main thread ran or waited for something. Time without a core is no
    /// fault of the program's.
    func effort(in windows: TimeWindows) -> TimeSpan {
        let times = profile.times(in: mainThread(in: windows))
        return times.running + times.blocked
    }

    /// The main thread in a part of the launch.
    func mainThread(in windows: TimeWindows) -> Selection {
        Selection(windows: windows, isOfMainThread: true)
    }

    /// The thread that is the main thread at that time; a position in the profile's list.
    func mainThread(at time: TimeSpan) -> Int { profile.mainThread.thread(at: time) ?? 0 }

    func isMain(_ thread: Int, at time: TimeSpan) -> Bool {
        profile.mainThread.isMain(thread, at: time)
    }

    // MARK: Places

    func place(in stack: [FrameID]) -> FrameID? { profile.place(in: stack) }

    /// The outermost function, of some functions of a stack, that does more than pass the work on
    /// to the next one; nil: none of them does.
    ///
    /// - Parameter unseen: the part of the first function's time that no sample covers.
    func worker(
        in entries: some Collection<HeaviestStack.Entry>, by weight: Weight,
        unseen: TimeSpan = .zero, among isWanted: (Function) -> Bool
    ) -> FrameID? {
        var found: FrameID?
        var left: TimeSpan?
        for entry in entries {
            let total = weight.of(entry.total)
            if found != nil, let left,
                Double(total.nanoseconds) < Self.passedOn * Double(left.nanoseconds)
            {
                break
            }
            left = left == nil ? total - unseen : total
            // An inlined function is a part of its caller.
            if isWanted(profile.frames.function(of: entry.frame)),
                !profile.frames[entry.frame].isInlined
            {
                found = entry.frame
            }
        }
        return found
    }

    /// From the main thread's first to its last moment in a function; nil: no sample shows it
    /// there.
    func range(of function: FunctionID, in windows: TimeWindows) -> Range<TimeSpan>? {
        range(of: [function], in: windows)
    }

    /// The same for a function when called by these functions.
    ///
    /// - Parameter calls: outermost first; other functions may lie between them.
    func range(of calls: [FunctionID], in windows: TimeWindows) -> Range<TimeSpan>? {
        let paths = profile.paths
        var depths = [Int](repeating: 0, count: paths.paths.count)
        for (index, path) in paths.paths.enumerated() {
            // Callers precede callees.
            let depth = path.parent == PathTable.none ? 0 : depths[Int(path.parent)]
            let isNext = depth < calls.count && path.function == calls[depth]
            depths[index] = isNext ? depth + 1 : depth
        }
        var range: Range<TimeSpan>?
        profile.forEachPart(in: mainThread(in: windows)) { part in
            guard depths[Int(paths.path(ofLine: part.line))] == calls.count else { return }
            range =
                min(
                    range?.lowerBound ?? part.start, part.start)..<max(
                    range?.upperBound ?? part.end, part.end)
        }
        return range
    }

    /// The stack that a thread had most in a part of the launch, outermost first.
    func heaviestStack(
        of thread: Int, in windows: TimeWindows, by weight: Weight
    ) -> HeaviestStack {
        profile.heaviestStack(Selection(threads: [thread], windows: windows), weight: weight)
    }
}

extension TimeWindows {
    /// The part of these windows that is not in the others.
    func subtracting(_ others: TimeWindows) -> TimeWindows {
        var result: [Range<TimeSpan>] = []
        for range in ranges {
            var start = range.lowerBound
            for other in others.ranges[others.first(endingAfter: start)...] {
                guard other.lowerBound < range.upperBound else { break }
                if start < other.lowerBound { result.append(start..<other.lowerBound) }
                start = max(start, other.upperBound)
            }
            if start < range.upperBound { result.append(start..<range.upperBound) }
        }
        return TimeWindows(result)
    }

    /// The part of these windows that is also in the others.
    func common(with others: TimeWindows) -> TimeWindows {
        subtracting(subtracting(others))
    }

    /// From the first to the last of them; nil for none.
    var span: Range<TimeSpan>? {
        guard let first = ranges.first, let last = ranges.last else { return nil }
        return first.lowerBound..<last.upperBound
    }
}
