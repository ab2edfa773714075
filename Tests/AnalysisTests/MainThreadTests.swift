import MadeRecordings
import ProfileModel
import TestSupport
import Testing

@testable import Analysis

/// Which thread is the main one: a launch whose `main` begins at 10 ms and is over at 110.
@Suite struct MainThreadTests {
    /// A first thread that makes another one and waits for it.
    private struct Launcher {
        /// When the other thread begins and ends, and the first one waits for it.
        var begins: Int64 = 20
        var ends: Int64 = 108
        var waits: (from: Int64, to: Int64) = (20, 108)
        var reason = WaitReason(.condition, owner: 8)
        /// When further threads begin.
        var others: [Int64] = []
        /// How long each of them computes.
        var share: Int64 = 5
        var isAttached = false
        var ready: Int64?
        /// For how long the first thread wants a core before it waits.
        var starved: Int64 = 0
        /// How long the first thread computes while its wait is recorded.
        var stolen: Int64 = 0
        var hasWait = true
        var intervals: [(from: Int64, to: Int64)] = []
        /// Of both threads: nice values, and since when.
        var firstNice: [(at: Int64, nice: Int32)] = []
        var otherNice: [(at: Int64, nice: Int32)] = []
        /// For how long the other one has work, but no core.
        var lacking: Int64 = 0

        func profile() -> Profile {
            var builder = RecordingBuilder(attached: isAttached, images: [("/home/dev/app", 2)])
            builder.border(isAttached ? .attached : .spawned, 0)
            builder.border(.firstInstruction, 2)
            builder.border(.main, 10)
            builder.border(.ended, 110)
            let first = builder.thread("app", tid: 7, to: 110, isMain: true)
            let other = builder.thread("app", tid: 8, from: begins, to: ends)
            for (index, start) in others.enumerated() {
                let worker = builder.thread(
                    "worker", tid: 20 + Int32(index), from: start, to: 110)
                builder.slice(
                    worker, at: start, running: min(share, 110 - start), builder.stack("help"))
            }
            let (idle, busy) = (builder.stack("_start", "main", "join"), builder.stack("run"))
            builder.slice(
                first, at: 2, running: waits.from - starved - 2, builder.stack("_start", "main"))
            builder.slice(first, at: waits.from - starved, preempted: starved, idle)
            builder.slice(
                first, at: waits.from, running: stolen, blocked: waits.to - waits.from - stolen,
                idle, call: 202)
            builder.slice(first, at: waits.to, running: 110 - waits.to, builder.stack("exit"))
            if hasWait { builder.wait(first, from: waits.from, to: waits.to, reason, idle) }
            builder.slice(
                other, at: begins, running: (ends - begins) / 2, preempted: lacking,
                blocked: ends - begins - (ends - begins) / 2 - lacking, busy, call: 35)
            for interval in intervals {
                builder.interval("part", "launch", from: interval.from, to: interval.to)
            }
            for (time, nice) in firstNice { builder.priority(first, at: time, nice: nice) }
            for (time, nice) in otherNice { builder.priority(other, at: time, nice: nice) }
            if let ready { builder.ready("listen", at: ready) }
            return Profile(builder.recording)
        }

        func changed(_ change: (inout Launcher) -> Void) -> Launcher {
            var result = self
            change(&result)
            return result
        }
    }

    /// "THREAD FROM-TO" in milliseconds, threads by their place in the recording.
    private func describe(_ launcher: Launcher) -> [String] {
        launcher.profile().mainThread.segments.map { segment in
            let (from, to) = (segment.range.lowerBound, segment.range.upperBound)
            return "\(segment.thread) \(from.nanoseconds / 1_000_000)-\(to.nanoseconds / 1_000_000)"
        }
    }

    private let itself = ["0 0-110"]

    @Test func theThreadThatTheFirstOneWaitsFor() {
        #expect(describe(Launcher()) == ["0 0-20", "1 20-108", "0 108-110"])
    }

    @Test func itWaitsToTheEnd() {
        let launcher = Launcher(ends: 110, waits: (20, 110))
        #expect(describe(launcher) == ["0 0-20", "1 20-110"])
    }

    /// The thread was found a little later than it was made, or earlier than the wait began.
    @Test(
        arguments: [(18, 20, 20), (19, 20, 20), (21, 20, 21), (22, 20, 22)]
            as [(Int64, Int64, Int64)])
    func foundALittleLater(begins: Int64, waits: Int64, from: Int64) {
        let launcher = Launcher(begins: begins, waits: (waits, 108))
        #expect(describe(launcher) == ["0 0-\(from)", "1 \(from)-108", "0 108-110"])
    }

    /// The new thread took its core before it could begin to wait.
    @Test(arguments: [(7, 3), (6, 3), (5, 3), (4, 1), (0, 1)] as [(Int64, Int)])
    func aFirstThreadThatLosesItsCore(starved: Int64, segments: Int) {
        let launcher = Launcher(begins: 13, waits: (20, 108), starved: starved)
        #expect(describe(launcher).count == segments)
    }

    @Test(arguments: [nil, 8] as [Int32?])
    func whoseEndIsWaitedFor(owner: Int32?) {
        let launcher = Launcher(reason: WaitReason(.condition, owner: owner))
        #expect(describe(launcher).count == 3)
    }

    /// Threads of its own making, and helpers from before, change nothing.
    @Test(arguments: [[30], [30, 31, 32], [3, 9], [12, 17, 40]] as [[Int64]])
    func otherThreadsAtOtherTimes(others: [Int64]) {
        #expect(describe(Launcher(others: others)).count == 3)
    }

    /// Java's threads have one priority; and a thread that has a core in time lacks nothing.
    @Test func threadsOfEqualPriorityOrWithACoreAreNoFinding() {
        let same = Launcher(firstNice: [(2, 5)], otherNice: [(20, 5)], lacking: 40)
        #expect(describe(same).count == 3)
        let more = Launcher(firstNice: [(2, 0)], otherNice: [(20, -5)], lacking: 40)
        #expect(describe(more).count == 3)
        let served = Launcher(firstNice: [(2, 0)], otherNice: [(20, 19)], lacking: 8)
        #expect(describe(served).count == 3)
        // Nothing is known of the first one.
        #expect(describe(Launcher(otherNice: [(20, 19)], lacking: 40)).count == 3)
        let later = Launcher(firstNice: [(2, 0)], otherNice: [(20, 0), (109, 19)], lacking: 40)
        #expect(describe(later).count == 3)
    }

    // MARK: Cases that do not count

    /// The first thread waits for a thread that comes last and has no core: that is an inversion,
    /// however long it lasts.
    @Test(arguments: [20, 21, 107] as [Int64])
    func aThreadOfLowerPriorityWithoutACore(since time: Int64) {
        let launcher = Launcher(
            firstNice: [(2, 0)], otherNice: [(20, 0), (time, 19)], lacking: 9)
        #expect(describe(launcher) == itself)
        #expect(launcher.profile().findings().map(\.kind).contains(.priorityInversion))
    }

    /// Several that were begun together divide the work: a pool.
    @Test(arguments: [[20], [18], [22], [19, 21], [20, 20, 20, 20]] as [[Int64]])
    func pools(others: [Int64]) {
        #expect(describe(Launcher(others: others, share: 40)) == itself)
        let unknown = WaitReason(.condition)
        #expect(describe(Launcher(reason: unknown, others: others)) == itself)
    }

    /// On a busy machine threads are found late, and those that the new one makes together with it.
    @Test(arguments: [(5, 3), (18, 3), (22, 1), (40, 1)] as [(Int64, Int)])
    func theWorkerAmongThreadsFoundTogether(share: Int64, segments: Int) {
        for begins in [22, 30] as [Int64] {
            let launcher = Launcher(
                begins: begins, waits: (20, 108), others: [begins, begins, begins], share: share)
            #expect(describe(launcher).count == segments)
            let unknown = launcher.changed { $0.reason = WaitReason(.condition) }
            #expect(describe(unknown) == itself)
        }
    }

    /// Waits of the first thread in the meantime do not count as waits of the launch.
    @Test func theWaitForOneThatIsFoundLate() {
        let launcher = Launcher(begins: 40, waits: (20, 108))
        #expect(describe(launcher) == ["0 0-40", "1 40-108", "0 108-110"])
        #expect(findings(launcher).isEmpty)
    }

    @Test(arguments: WaitReason.Kind.allCases)
    func onlyConditions(kind: WaitReason.Kind) {
        let launcher = Launcher(reason: WaitReason(kind, owner: 8))
        #expect(describe(launcher).count == (kind == .condition ? 3 : 1))
    }

    @Test func anotherThreadsEnd() {
        #expect(describe(Launcher(reason: WaitReason(.condition, owner: 9))) == itself)
    }

    /// In the second half of `main`, much has happened that the first thread did.
    @Test(arguments: [(60, 3), (61, 1), (90, 1)] as [(Int64, Int)])
    func aThreadThatIsMadeLate(begins: Int64, segments: Int) {
        #expect(describe(Launcher(begins: begins, waits: (begins, 108))).count == segments)
    }

    /// A tenth of `main` is left at most when the wait is over; a fifth if it was for a thread's end.
    @Test(arguments: [(100, 3, 3), (99, 1, 3), (90, 1, 3), (89, 1, 1)] as [(Int64, Int, Int)])
    func aFirstThreadThatGoesOn(end: Int64, segments: Int, ofOwner: Int) {
        let launcher = Launcher(ends: end, waits: (20, end), reason: WaitReason(.condition))
        #expect(describe(launcher).count == segments)
        #expect(describe(Launcher(ends: end, waits: (20, end))).count == ofOwner)
    }

    @Test func aThreadThatEndsLongBeforeTheWait() {
        #expect(describe(Launcher(ends: 60)) == itself)
    }

    @Test(arguments: [(0, 3), (1, 1), (30, 1)] as [(Int64, Int)])
    func aFirstThreadThatComputesMeanwhile(milliseconds: Int64, segments: Int) {
        #expect(describe(Launcher(stolen: milliseconds)).count == segments)
    }

    @Test func aThreadThatIsThereBefore() {
        #expect(describe(Launcher(begins: 8, waits: (10, 108))) == itself)
        #expect(describe(Launcher(begins: 17)) == itself)
        #expect(describe(Launcher(begins: 23, reason: WaitReason(.condition))) == itself)
    }

    @Test func nothingIsKnownOfTheWait() {
        #expect(describe(Launcher(hasWait: false)) == itself)
    }

    @Test func attached() {
        #expect(describe(Launcher(isAttached: true)) == itself)
    }

    @Test func noMainThreadAtAll() {
        var builder = RecordingBuilder(images: [("/home/dev/app", 2)])
        builder.border(.spawned, 0)
        builder.border(.ended, 110)
        let profile = Profile(builder.recording)
        #expect(profile.mainThread.segments.isEmpty)
        #expect(profile.mainThread.usual == nil && profile.mainThread.thread(at: .zero) == nil)
        #expect(profile.findings().isEmpty)
        #expect(profile.times(in: Selection(isOfMainThread: true)) == .zero)
    }

    // MARK: Figures

    /// *Main* counts up to readiness; the wait goes on behind it.
    @Test func untilItIsReady() {
        let launcher = Launcher(waits: (20, 104), ready: 50)
        #expect(describe(launcher) == ["0 0-20", "1 20-104", "0 104-110"])
        // Half of what counts is over.
        #expect(describe(Launcher(ready: 28)) == itself)
    }

    /// Whatever the phases, the main thread's times in them add up to the thread's that it is.
    @Test(
        arguments: [
            [], [(from: 15, to: 40)], [(from: 10, to: 20), (from: 60, to: 109)],
        ] as [[(from: Int64, to: Int64)]])
    func columnsOfPhases(intervals: [(from: Int64, to: Int64)]) {
        let profile = Launcher(intervals: intervals).profile()
        for phase in profile.phases.dropFirst() { #expect(phase.mainThread.wall == phase.wall) }
        let main = profile.phases.filter { $0.group == .afterMain }
            .reduce(StateTimes.zero) { $0 + $1.mainThread }
        // 10 ms before the other thread, 44 of its 88, and 2 after it.
        #expect(main == StateTimes(running: .milliseconds(56), blocked: .milliseconds(44)))
        for (index, phase) in profile.phases.enumerated() {
            let windows = TimeWindows([.zero..<profile.launch.wall])
            #expect(
                profile.phase(index, in: Selection(windows: windows)).mainThread
                    == phase.mainThread)
            #expect(
                profile.times(in: Selection(phases: [index], isOfMainThread: true))
                    == phase.mainThread)
        }
    }

    /// A part of the launch: what of the main thread's time lies in it.
    @Test func windows() {
        let profile = Launcher().profile()
        func times(_ from: Int64, _ to: Int64) -> TimeSpan {
            profile.times(
                in: Selection(
                    windows: TimeWindows([.milliseconds(from)..<(.milliseconds(to))]),
                    isOfMainThread: true)
            ).wall
        }
        #expect(times(0, 110) == .milliseconds(108))
        #expect(times(15, 25) == .milliseconds(10))
        #expect(times(105, 110) == .milliseconds(5))
        #expect(times(30, 30) == .zero)
    }

    @Test func theMainThreadOverTime() {
        let main = Launcher().profile().mainThread
        #expect(main.usual == 1 && main.threads == [0, 1])
        for (time, thread) in [(0, 0), (19, 0), (20, 1), (107, 1), (108, 0), (500, 0)] {
            #expect(main.thread(at: .milliseconds(Int64(time))) == thread)
            #expect(main.isMain(thread, at: .milliseconds(Int64(time))))
            #expect(!main.isMain(1 - thread, at: .milliseconds(Int64(time))))
        }
    }

    /// Without any record of wake-ups.
    @Test func theCriticalPathGoesThere() {
        let path = Launcher().profile().criticalPath(minDuration: .milliseconds(1))
        let threads = path.segments.map(\.thread)
        #expect(threads.first == 0 && threads.last == 0 && threads.contains(1))
        #expect(path.duration == .milliseconds(110))
        let other = path.segments.filter { $0.thread == 1 }.reduce(.zero) { $0 + $1.duration }
        #expect(other == .milliseconds(88))
    }

    // MARK: Findings

    private func findings(_ launcher: Launcher) -> [(Finding.Kind, Int)] {
        launcher.profile().findings().map { ($0.kind, $0.thread) }
    }

    @Test func noAdviceAgainstANecessaryWait() {
        #expect(findings(Launcher()).isEmpty)
        let pool = findings(Launcher(others: [20], share: 40))
        #expect(pool.map(\.0) == [.threadWait] && pool.map(\.1) == [0])
    }

    /// The other thread's waits are the main thread's, and so are the first thread's before it.
    @Test func waitsOfBoth() {
        var builder = RecordingBuilder(images: [("/home/dev/app", 2)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 2)
        builder.border(.main, 10)
        builder.border(.ended, 1000)
        let first = builder.thread("app", tid: 7, to: 1000, isMain: true)
        let other = builder.thread("app", tid: 8, from: 200, to: 1000)
        let worker = builder.thread("worker", tid: 9, from: 400, to: 1000)
        let stacks = ["load", "join", "fetch", "idle"].map { builder.stack("main", $0) }
        for (thread, from, to, kind, stack) in [
            (first, 50, 150, WaitReason.Kind.file, 0), (first, 200, 990, .condition, 1),
            (other, 300, 500, .sleep, 2), (worker, 500, 900, .sleep, 3),
        ] as [(ThreadIndex, Int64, Int64, WaitReason.Kind, Int)] {
            builder.slice(thread, at: from, blocked: to - from, stacks[stack], call: 202)
            builder.wait(thread, from: from, to: to, WaitReason(kind), stacks[stack])
        }
        let found = Profile(builder.recording).findings()
        #expect(found.map(\.kind) == [.sleep, .fileWait])
        #expect(found.map(\.thread) == [1, 0])
        #expect(found.map(\.saving) == [.milliseconds(200), .milliseconds(100)])
    }

    /// Made-up recordings of every kind: segments tile the launch, and times never get lost.
    @Test(arguments: 0..<300 as Range<UInt64>)
    func segmentsTileTheLaunch(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let begins = Int64.random(in: 3...70, using: &random)
        let start = max(3, begins + Int64.random(in: -3...3, using: &random))
        let end = Int64.random(in: (max(begins, start) + 2)...110, using: &random)
        let launcher = Launcher(
            begins: begins, ends: min(110, end), waits: (start, end),
            others: (0..<Int.random(in: 0...2, using: &random)).map { _ in
                Int64.random(in: 0...100, using: &random)
            },
            ready: Bool.random(using: &random) ? Int64.random(in: 11...109, using: &random) : nil)
        let profile = launcher.profile()
        var time = TimeSpan.zero
        for segment in profile.mainThread.segments {
            #expect(segment.range.lowerBound == time && !segment.range.isEmpty)
            time = segment.range.upperBound
        }
        #expect(time == profile.launch.wall)
        let sum = profile.phases.reduce(StateTimes.zero) { $0 + $1.mainThread }
        #expect(sum == profile.times(in: Selection(isOfMainThread: true)))
        #expect(sum.wall <= profile.launch.wall)
    }
}
