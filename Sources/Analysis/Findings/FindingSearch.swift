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

/// A library for debugging uses CPU time on the main thread: a sanitizer's, a checking allocator's,
/// or a library's debug variant.
struct DebugLibraries: FindingRule {
    func findings(in search: inout FindingSearch) -> [Finding] {
        search.profile.modules.indices.compactMap { index in
            let path = search.profile.modules[index].path
            guard Self.isForDebugging(path) else { return nil }
            let spent = OwnTime(of: search) { frame in
                search.profile.frames[frame.function].moduleIndex == ModuleIndex(index)
            }
            guard spent.cpu >= search.least else { return nil }
            return spent.finding(.debugLibrary(String(Module(path: path).name)), search)
        }
    }

    /// Judged by its name, or by the folder in which distributions keep debug variants.
    static func isForDebugging(_ path: String) -> Bool {
        let name = Module(path: path).name
        return names.contains { name.hasPrefix($0) } || path.contains("/debug/lib")
    }

    private static let names = [
        "libasan.so", "libtsan.so", "libubsan.so", "liblsan.so", "libmsan.so", "libhwasan.so",
        "libclang_rt.", "libc_malloc_debug.so", "libefence.so", "libduma.so", "libdmalloc",
    ]
}

/// Priority inversions among the other threads; the main thread's are found with its waits. Only
/// the time lost to the low priority counts as saving, because the launch may not have waited for
/// all of these threads.
struct OtherInversions: FindingRule {
    func findings(in search: inout FindingSearch) -> [Finding] {
        var found: [Finding] = []
        // If all threads have the same priority, none is lower.
        guard search.profile.hasPriorities else { return [] }
        let waiting = Set(search.profile.waits.map(\.thread)).subtracting(
            search.profile.mainThread.threads)
        for thread in waiting.sorted() {
            for group in WaitGroups(of: thread, in: search).groups {
                // A thread that is only presumed to have been waited for is no proof.
                guard group.windows.length >= search.least,
                    let counterpart = Counterpart(knownOf: group, in: search),
                    counterpart.isInversion(of: group.windows.length),
                    counterpart.lacked >= search.least,
                    let range = group.windows.span
                else { continue }
                found.append(
                    Finding(
                        subject: .priorityInversion(group.evidence(counterpart), counterpart),
                        saving: counterpart.lacked, thread: thread, range: range,
                        place: group.place, stack: group.stack))
            }
        }
        return found
    }
}

/// A library is loaded and initialised at a cost, and no later stack shows its code. If one heavy
/// initialiser or a `dlopen` is the cost, that is the finding.
struct UnusedLibraries: FindingRule {
    func findings(in search: inout FindingSearch) -> [Finding] {
        var found: [Finding] = []
        for library in search.profile.libraries where library.used == false {
            let runs = Self.initializers(of: library, in: search)
            let whole = TimeWindows(runs.map { search.window(from: $0.start, to: $0.end) })
            let windows = search.unclaimed(whole)
            guard let heaviest = runs.max(by: { $0.wall < $1.wall }), let range = whole.span,
                windows.length >= search.least,
                search.effort(in: windows) >= search.least
            else { continue }
            search.claim(whole)
            found.append(
                Finding(
                    subject: .unusedLibrary(
                        library.path, isLinkedForNothing: library.isLinkedForNothing),
                    saving: windows.length,
                    thread: heaviest.thread, range: range, place: heaviest.frame,
                    stack: [heaviest.frame]))
        }
        return found
    }

    private static func initializers(
        of library: LibraryFigures, in search: FindingSearch
    ) -> [InitializerFigures] {
        search.profile.initializers.filter { run in
            let module = search.profile.frames.function(of: run.frame).moduleIndex
            return search.isMain(run.thread, at: run.start)
                && module.map { library.modules.contains($0.rawValue) } == true
        }
    }
}

/// The main thread waits: for a file, the network, time, a lock, another thread, a child or a
/// page from the disk.
struct MainThreadWaits: FindingRule {
    func findings(in search: inout FindingSearch) -> [Finding] {
        var found: [Finding] = []
        let main = search.profile.mainThread
        let groups = main.threads.sorted().flatMap {
            WaitGroups(of: $0, within: main.windows(of: $0), in: search).groups
        }
        for group in groups {
            // The children's work during the wait may say more.
            let windows = search.unclaimed(group.windows)
            guard windows.length >= search.least, let range = windows.span else { continue }
            search.claim(windows)
            let counterpart = Counterpart(group, in: search)
            var evidence = group.evidence(counterpart)
            evidence.child = search.child(besides: group, in: windows)
            let inversion = counterpart.flatMap { $0.isInversion(of: windows.length) ? $0 : nil }
            found.append(
                Finding(
                    subject: inversion.map { .priorityInversion(evidence, $0) } ?? .wait(evidence),
                    saving: windows.length, thread: group.longest.thread, range: range,
                    place: group.place, stack: group.stack))
        }
        return found
    }
}

extension FindingSearch {
    /// The only child of the waiting thread's process that lived for half of the time in which it slept or
    /// polled.
    fileprivate func child(besides group: WaitGroups.Group, in windows: TimeWindows) -> Int? {
        guard [.sleep, .pollWait, .pipeWait].contains(group.kind) else { return nil }
        let children = profile.processes.indices.filter { index in
            let process = profile.processes[index]
            let life = TimeWindows([window(from: process.start, to: process.end ?? end)])
            return process.parent == 0
                && life.common(with: windows).length.nanoseconds >= windows.length.nanoseconds / 2
        }
        return children.count == 1 ? children[0] : nil
    }
}
