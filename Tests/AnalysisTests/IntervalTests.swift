import Analysis
import MadeRecordings
import ProfileModel
import TestSupport
import Testing

/// The cost of intervals, and selections of their time.
@Suite struct IntervalTests {
    /// Slices at odd times, on four threads, with intervals at odd times, too: some meet, some
    /// nest, some overlap.
    private func recording(seed: UInt64) -> Recording {
        var recording = RecordingBuilder.random(seed: seed)
        var random = SeededNumbers(seed: seed ^ 0xbeef)
        func moment(_ nanoseconds: Int64) -> MonotonicTime {
            RecordingBuilder.at(0) + TimeSpan(nanoseconds: nanoseconds)
        }
        let cuts = (0..<6).map { _ in Int64.random(in: 30_000_000...99_000_000, using: &random) }
            .sorted()
        for (index, (start, end)) in zip(cuts, cuts.dropFirst()).enumerated() {
            recording.intervals.append(
                Interval(
                    name: "side \(index)", category: "", thread: ThreadIndex(index % 4),
                    start: moment(start), end: moment(end)))
        }
        for (name, start, end) in [("all", 0, 5), ("early", 0, 2), ("late", 2, 5)] {
            recording.intervals.append(
                Interval(
                    name: name, category: "", thread: ThreadIndex(1), start: moment(cuts[start]),
                    end: moment(cuts[end])))
        }
        for _ in 0..<3 {
            let start = Int64.random(in: -5_000_000...110_000_000, using: &random)
            recording.intervals.append(
                Interval(
                    name: "again", category: "", thread: nil, start: moment(start),
                    end: moment(start + Int64.random(in: 0...30_000_000, using: &random))))
        }
        return recording
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func intervalsSideBySideAddUp(seed: UInt64) throws {
        let profile = Profile(recording(seed: seed))
        func times(_ name: String, thread: String? = nil) throws -> StateTimes {
            profile.times(in: try profile.selection(thread: thread, interval: name))
        }
        let sides = try (0..<5).map { try times("side \($0)") }.reduce(.zero, +)
        #expect(try sides == times("all"))
        #expect(try times("early") + times("late") == times("all"))
        #expect(
            try times("early", thread: "102") + times("late", thread: "102")
                == times("all", thread: "102"))
        // And so do their trees, function by function.
        for weight in Weight.allCases {
            var sums: [FunctionID: StateTimes] = [:]
            for name in ["early", "late"] {
                let selection = try profile.selection(interval: name)
                for figures in profile.functions(selection, orderedBy: weight) {
                    sums[figures.function, default: .zero] += figures.total
                }
            }
            let all = try profile.selection(interval: "all")
            for figures in profile.functions(all, orderedBy: weight) {
                #expect(sums[figures.function] == figures.total)
            }
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func everyViewOfAnIntervalHasItsTotal(seed: UInt64) throws {
        let profile = Profile(recording(seed: seed))
        for interval in profile.intervals where interval.name != "again" {
            let selection = try profile.selection(interval: interval.name)
            #expect(profile.times(in: selection).running == interval.cpu)
            let thread = try #require(interval.thread)
            var own = selection
            own.threads = [thread]
            #expect(profile.times(in: own).running == interval.threadCPU)
            // All threads were there throughout.
            #expect(profile.times(in: own).wall == interval.wall)
            for weight in Weight.allCases {
                let expected = weight.of(profile.times(in: selection))
                let topDown = profile.topDown(selection, weight: weight)
                let bottomUp = profile.bottomUp(selection, weight: weight)
                for tree in [topDown, bottomUp] {
                    let roots = tree.nodes[tree.roots].reduce(.zero) { $0 + weight.of($1.total) }
                    #expect(roots == expected)
                }
                let stacks = profile.weighedStacks(selection, weight: weight)
                #expect(stacks.reduce(.zero) { $0 + $1.weight } == expected)
            }
            let phases = profile.phases.indices.map { profile.phase($0, in: selection) }
            #expect(phases.reduce(.zero) { $0 + $1.wall } == interval.wall)
            #expect(phases.reduce(.zero) { $0 + $1.cpu } == interval.cpu)
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func intervalsOfOneNameCountOnceWhereTheyOverlap(seed: UInt64) throws {
        let profile = Profile(recording(seed: seed))
        let again = try profile.selection(interval: "again")
        let windows = try #require(again.windows)
        var inside = StateTimes.zero
        for range in windows.ranges {
            inside += profile.times(in: Selection(windows: TimeWindows([range])))
            #expect(range.lowerBound >= .zero && range.upperBound <= profile.launch.wall)
        }
        #expect(profile.times(in: again) == inside)
        // The time outside of them is the rest.
        var outside: [Range<TimeSpan>] = []
        var cursor = TimeSpan.zero
        for range in windows.ranges {
            outside.append(cursor..<range.lowerBound)
            cursor = range.upperBound
        }
        outside.append(cursor..<profile.launch.wall)
        let rest = profile.times(in: Selection(windows: TimeWindows(outside)))
        #expect(inside + rest == profile.times(in: .all))
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func windowsNeedNotBeginAtBorders(seed: UInt64) {
        let profile = Profile(recording(seed: seed))
        var random = SeededNumbers(seed: seed)
        let start = TimeSpan(nanoseconds: Int64.random(in: 40_000_000...60_000_000, using: &random))
        let end = start + TimeSpan(nanoseconds: Int64.random(in: 1...9_000_000, using: &random))
        let windows = TimeWindows([start..<end])
        for times in profile.timesByThread(in: Selection(windows: windows)) {
            #expect(times.wall == end - start)
        }
    }

    @Test func aSliceIsDividedAtTheIntervalsBorders() throws {
        var builder = RecordingBuilder(attached: true)
        builder.border(.attached, 0)
        builder.border(.ended, 100)
        let main = builder.thread("app", tid: 7, to: 100, isMain: true)
        let worker = builder.thread("worker", tid: 8, to: 100)
        builder.slice(main, at: 0, running: 50, blocked: 50, builder.stack("main"))
        builder.slice(worker, at: 0, running: 100, builder.stack("work"))
        builder.interval("i", "c", main, from: 20, to: 40)
        let profile = Profile(builder.recording)
        let interval = try #require(profile.intervals.first)
        // The slice's proportions are those of each of its parts: half of it ran first.
        #expect(interval.wall == .milliseconds(20))
        #expect(interval.threadCPU == .milliseconds(10))
        #expect(interval.cpu == .milliseconds(30))
        let tree = profile.topDown(try profile.selection(interval: "i"), weight: .wall)
        #expect(tree.nodes.map { tree.function(of: $0).name }.prefix(2) == ["main", "work"])
        #expect(tree.nodes.prefix(2).map(\.total.wall) == [.milliseconds(20), .milliseconds(20)])
    }

    @Test func intervalsAreInTheOrderOfTheirStarts() {
        var builder = RecordingBuilder(attached: true)
        builder.border(.attached, 0)
        builder.border(.ended, 100)
        builder.interval("inner", from: 20, to: 30)
        builder.interval("outer", from: 20, to: 40)
        builder.interval("before", from: -10, to: 20, isComplete: false)
        builder.event("b", at: 50)
        builder.event("a", at: 5)
        let profile = Profile(builder.recording)
        #expect(profile.intervals.map(\.name) == ["before", "outer", "inner"])
        #expect(profile.intervals.map(\.isComplete) == [false, true, true])
        #expect(profile.intervals[0].start == .milliseconds(-10))
        #expect(profile.intervals[0].wall == .milliseconds(30))
        #expect(profile.signposts.map(\.name) == ["a", "b"])
        #expect(profile.windows(ofIntervalsNamed: "before").length == .milliseconds(20))
    }

    // MARK: Names

    private func named() -> Profile {
        var builder = RecordingBuilder(attached: true)
        builder.border(.attached, 0)
        builder.border(.ended, 100)
        for name in ["Load stars", "load", "Draw", "draw"] {
            builder.interval(name, from: 20, to: 30)
        }
        builder.event("tap", at: 50)
        return Profile(builder.recording)
    }

    @Test(arguments: [
        ("load", "load"), ("LOAD", "load"), ("Load", "load"), ("load s", "Load stars"),
        ("Draw", "Draw"), ("draw", "draw"),
    ])
    func namesOrTheirBeginnings(wanted: String, meant: String) throws {
        #expect(try named().selection(interval: wanted).interval == meant)
    }

    @Test(arguments: ["", "x", "lo", "DRAW", "dr"])
    func unknownAndAmbiguousNames(wanted: String) {
        let known = ["Load stars", "load", "Draw", "draw"]
        #expect(throws: SelectionError.unknownInterval(wanted, known: known)) {
            try named().selection(interval: wanted)
        }
    }

    @Test func anEventHasNoLength() {
        #expect(throws: SelectionError.isEvent("tap")) { try named().selection(interval: "tap") }
        #expect(
            SelectionError.isEvent("tap").description
                == "'tap' is an event, a point in time, and has no length")
    }
}
