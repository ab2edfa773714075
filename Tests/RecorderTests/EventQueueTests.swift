import Architecture
import ProfileModel
import Sampler
import System
import TestSupport
import Testing

@testable import Recorder

@Suite struct EventQueueTests {
    private static func sample(_ index: Int, bytes: Int) -> SamplerEvent {
        let stack = StackCopy(start: 0, bytes: [UInt8](repeating: 0, count: bytes))
        return .sample(
            Sample(
                thread: ThreadIndex(index), start: MonotonicTime(nanoseconds: Int64(index)),
                times: StateTimes(running: TimeSpan(nanoseconds: 10)),
                content: .snapshot(Snapshot(registers: Registers(), stack: stack)), blocking: 3))
    }

    /// The queue's next events; nil at the end.
    private static func next(of queue: EventQueue) -> [SamplerEvent]? {
        var batch: [QueuedEvent] = []
        return queue.next(into: &batch) ? events(batch) : nil
    }

    private static func events(_ batch: [QueuedEvent]) -> [SamplerEvent] {
        batch.compactMap { queued in
            if case .observed(let event, of: nil) = queued { event } else { nil }
        }
    }

    private static func samples(_ batch: [QueuedEvent]) -> [Sample] { samples(events(batch)) }

    private static func samples(_ events: [SamplerEvent]?) -> [Sample] {
        (events ?? []).compactMap { event in
            if case .sample(let sample) = event { return sample }
            return nil
        }
    }

    private static func isLost(_ sample: Sample) -> Bool {
        if case .missing(.lost) = sample.content { return true }
        return false
    }

    @Test func eventsComeInTheirOrder() {
        let queue = EventQueue()
        queue.receive(.began(pid: 7))
        for index in 0..<5 { queue.receive(Self.sample(index, bytes: 8)) }
        let events = Self.next(of: queue)
        #expect(events?.count == 6)
        guard case .began(pid: 7)? = events?.first else {
            Issue.record("the beginning is not the first")
            return
        }
        #expect(Self.samples(events).map(\.thread.rawValue) == Array(0..<5))
        #expect(queue.lostSamples == 0)
    }

    /// Where memory is limited, less may wait; times are never lost.
    @Test func aSmallQueueDropsStacksAlone() {
        let queue = EventQueue(capacity: 1000)
        for index in 0..<5 { queue.receive(Self.sample(index, bytes: 400)) }
        #expect(queue.lostSamples == 3)
        let samples = Self.samples(Self.next(of: queue))
        #expect(samples.map(\.thread.rawValue) == Array(0..<5))
        #expect(samples.map(Self.isLost) == [false, false, true, true, true])
    }

    /// A program that maps code without end must not fill our memory: the newest list counts.
    @Test func ofMappingsThatFindNoRoomTheNewestIsKept() throws {
        let queue = EventQueue()
        let path = String(repeating: "x", count: 4000)
        for index in 0..<400 {
            let code = (0..<100).map { number in
                CodeMapping(
                    start: UInt64(number) << 12, end: UInt64(number + 1) << 12, fileOffset: 0,
                    path: path, inode: 1)
            }
            queue.receive(.mappings(code, MonotonicTime(nanoseconds: Int64(index))))
        }
        let times = try #require(Self.next(of: queue)).map { event -> Int64 in
            if case .mappings(_, let time) = event { return time.nanoseconds }
            return -1
        }
        #expect(times.count < 170)
        #expect(times.last == 399)
        #expect(times == times.sorted())
    }

    /// 64 MiB of stacks are kept; of later samples only the times.
    @Test func aFullQueueDropsStacksAndKeepsTimes() {
        let queue = EventQueue()
        for index in 0..<70 { queue.receive(Self.sample(index, bytes: 1 << 20)) }
        queue.receive(.threadNamed(ThreadIndex(0), "late"))
        let samples = Self.samples(Self.next(of: queue))
        #expect(samples.count == 70)
        #expect(samples.filter(Self.isLost).count == 6)
        #expect(samples.prefix(64).allSatisfy { !Self.isLost($0) })
        #expect(queue.lostSamples == 6)
        #expect(samples.map(\.start.nanoseconds) == Array(0..<70))
        #expect(samples.allSatisfy { $0.times.running == TimeSpan(nanoseconds: 10) })
        #expect(samples.allSatisfy { $0.blocking == 3 })
    }

    @Test func aSmallerStackMayStillFit() {
        let queue = EventQueue()
        for index in 0..<63 { queue.receive(Self.sample(index, bytes: 1 << 20)) }
        queue.receive(Self.sample(63, bytes: (1 << 20) + 1))
        queue.receive(Self.sample(64, bytes: 1 << 20))
        #expect(Self.samples(Self.next(of: queue)).map(Self.isLost).suffix(2) == [true, false])
        #expect(queue.lostSamples == 1)
    }

    @Test func thereIsRoomAgainWhenItWasEmptied() {
        let queue = EventQueue()
        for index in 0..<65 { queue.receive(Self.sample(index, bytes: 1 << 20)) }
        _ = Self.next(of: queue)
        queue.receive(Self.sample(65, bytes: 1 << 20))
        #expect(Self.samples(Self.next(of: queue)).contains(where: Self.isLost) == false)
        #expect(queue.lostSamples == 1)
    }

    /// Signposts have no part that can be dropped: those that find no room are lost, and counted.
    @Test func signpostsAreBounded() {
        let queue = EventQueue()
        let name = String(repeating: "x", count: 1 << 20)
        let time = MonotonicTime(nanoseconds: 0)
        for _ in 0..<40 {
            queue.receive(.signpost(Signpost(name: name, category: "", thread: nil, time: time)))
            queue.receive(
                .interval(
                    Interval(name: name, category: "", thread: nil, start: time, end: time)))
        }
        queue.receive(.ready(Readiness(time: time, by: "exit")))
        #expect(queue.lostSignposts == 17)
        #expect(queue.lostSamples == 0)
        #expect(Self.next(of: queue)?.count == 64)
    }

    /// The scheduler's records are replaced by a note that they are lost.
    @Test func theSchedulersAccountIsBounded() {
        let queue = EventQueue()
        func at(_ time: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: time) }
        for index in 0..<64 { queue.receive(Self.sample(index, bytes: 1 << 20)) }
        queue.receive(
            .scheduled([
                SchedulerRecord(at(7), 1, .arrived(core: 0)), SchedulerRecord(at(5), 2, .ended),
                SchedulerRecord(at(9), 1, .ended),
            ]))
        guard case .scheduled(let records)? = Self.next(of: queue)?.last else {
            Issue.record("nothing is left")
            return
        }
        #expect(records == [SchedulerRecord(at(9), 0, .lost(since: at(5)))])
        #expect(queue.lostSamples == 0)
    }

    @Test func theEndComesAfterTheLastEvent() {
        let queue = EventQueue()
        queue.receive(Self.sample(0, bytes: 8))
        queue.finish()
        #expect(Self.next(of: queue)?.count == 1)
        #expect(Self.next(of: queue)?.count == nil)
        #expect(Self.next(of: queue)?.count == nil)
    }

    /// The reader looks by itself after a while, and finds nothing. (Before anything came at all it
    /// is not back: then only an event or the end brings it.)
    @Test func nothingIsNoEnd() {
        let queue = EventQueue()
        queue.receive(Self.sample(0, bytes: 8))
        #expect(Self.next(of: queue)?.count == 1)
        #expect(Self.next(of: queue)?.count == 0)
    }

    /// The reader's memory goes round: nothing of one batch is left in a later one.
    @Test(arguments: 1...5) func everyEventComesOnceAndInOrder(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let queue = EventQueue()
        var batch: [QueuedEvent] = []
        var found: [Int] = []
        var sent = 0
        for _ in 0..<4 {
            for _ in 0..<Int.random(in: 0...20, using: &random) {
                queue.receive(Self.sample(sent, bytes: 8))
                sent += 1
            }
            #expect(queue.next(into: &batch))
            found += Self.samples(batch).map(\.thread.rawValue)
        }
        #expect(found == Array(0..<sent))
    }

    /// Of a blocked thread without whose registers the stack cannot be unwound.
    @Test func refinementsAreLookedForSooner() {
        func time(_ milliseconds: Int64) -> MonotonicTime {
            MonotonicTime(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000)
        }
        var schedule = LookSchedule(lastLook: time(0))
        // Nothing has come: it looks again and again. The first events have all the time.
        #expect(schedule.due(at: time(3)) == time(13) && schedule.looksSoon(at: time(3)))
        schedule.first = time(4)
        schedule.isUrgent = true
        #expect(schedule.due(at: time(5)) == time(54))
        schedule.looked(at: time(54), foundEvents: true)
        // After something urgent, the reader looks soon again.
        #expect(schedule.due(at: time(55)) == time(64) && schedule.looksSoon(at: time(55)))
        #expect(schedule.due(at: time(70)) == time(104) && !schedule.looksSoon(at: time(70)))
        schedule.looked(at: time(104), foundEvents: false)
        #expect(schedule.due(at: time(105)) == time(154) && !schedule.looksSoon(at: time(105)))
        schedule.isUrgent = true
        #expect([106, 120].allSatisfy { schedule.due(at: time($0)) == time(114) })
    }

    @Test func refinementsAreHandedOutOnce() {
        let queue = EventQueue()
        let first = StackRefinement(thread: ThreadIndex(1), blocking: 4)
        let second = StackRefinement(thread: ThreadIndex(2), blocking: 1)
        queue.add(first)
        queue.add(second)
        #expect(queue.takeRefinements() == [first, second])
        #expect(queue.takeRefinements().isEmpty)
    }

    @Test func failureIsTold() {
        let queue = EventQueue()
        #expect(!queue.hasFailed)
        queue.fail()
        #expect(queue.hasFailed)
    }

    // MARK: The first look

    /// While a program is stopped at its first instruction, the reader is not woken: urgent events
    /// then come with all the rest, when the first period is over.
    @Test func theFirstEventsDoNotWakeTheReader() {
        let queue = EventQueue()
        let start = MonotonicTime.now
        queue.receive(.began(pid: 7))
        queue.receive(.mappings([], start))
        queue.receive(Self.sample(0, bytes: 8))
        let events = Self.next(of: queue)
        #expect(events?.count == 3)
        // Never sooner, however fast the machine.
        #expect(MonotonicTime.now - start >= .milliseconds(50))
    }

    @Test func theFirstLookComesByItself() {
        let queue = EventQueue()
        queue.receive(.threadNamed(ThreadIndex(0), "quiet"))
        #expect(Self.next(of: queue)?.count == 1)
    }

    /// A reader that waits already, for a first event or for anything.
    @Test(arguments: [false, true]) func theEndIsToldToWhoWaits(hasBegun: Bool) async {
        let queue = EventQueue()
        if hasBegun {
            queue.receive(Self.sample(0, bytes: 8))
            _ = Self.next(of: queue)
        }
        let reader = Task.detached { () -> Int in
            var batch: [QueuedEvent] = []
            var count = 0
            while queue.next(into: &batch) { count += batch.count }
            return count
        }
        queue.receive(Self.sample(1, bytes: 8))
        queue.finish()
        #expect(await reader.value == 1)
    }

    @Test func theEndNeedsNoEvents() {
        let queue = EventQueue()
        queue.finish()
        #expect(Self.next(of: queue)?.count == nil)
        #expect(Self.next(of: queue)?.count == nil)
    }

    /// Events before the end are handed out first, though no look was due.
    @Test func theEndComesBeforeTheFirstLook() {
        let queue = EventQueue()
        for index in 0..<3 { queue.receive(Self.sample(index, bytes: 8)) }
        queue.finish()
        #expect(Self.next(of: queue)?.count == 3)
        #expect(Self.next(of: queue)?.count == nil)
    }

    /// Many stacks do not wait for the first look: the program would fill the queue.
    @Test func manyStacksAreTakenAtOnce() {
        let queue = EventQueue()
        for index in 0..<4 { queue.receive(Self.sample(index, bytes: 1 << 20)) }
        #expect(Self.samples(Self.next(of: queue)).count == 4)
        #expect(queue.lostSamples == 0)
    }

    @Test(arguments: 1...5) func nothingIsLostBetweenTwoThreads(seed: UInt64) async {
        let queue = EventQueue()
        let reader = Task.detached { () -> [Int] in
            var batch: [QueuedEvent] = []
            var found: [Int] = []
            while queue.next(into: &batch) { found += Self.samples(batch).map(\.thread.rawValue) }
            return found
        }
        var random = SeededNumbers(seed: seed)
        let count = Int.random(in: 0...3000, using: &random)
        for index in 0..<count {
            queue.receive(Self.sample(index, bytes: Int.random(in: 0...8192, using: &random)))
        }
        queue.finish()
        #expect(await reader.value == Array(0..<count))
    }

    // MARK: Children

    private static let code = [
        CodeMapping(start: 0, end: 4096, fileOffset: 0, path: "/a", inode: 1)
    ]

    /// Of a full queue's mappings only those of the same process are replaced.
    @Test func mappingsOfOneProcessDoNotTakeAnothersPlace() {
        let queue = EventQueue()
        let long = [
            CodeMapping(
                start: 0, end: 4096, fileOffset: 0, path: String(repeating: "x", count: 1 << 20),
                inode: 1)
        ]
        queue.receive(.mappings(Self.code, MonotonicTime(nanoseconds: 1)), of: ChildIndex(3))
        for index in 0..<70 {
            queue.receive(.mappings(long, MonotonicTime(nanoseconds: Int64(index))))
        }
        var batch: [QueuedEvent] = []
        #expect(queue.next(into: &batch))
        let owners = batch.map { queued -> ChildIndex? in
            if case .observed(_, of: let child) = queued { child } else { nil }
        }
        #expect(owners.first == ChildIndex(3))
        #expect(owners.dropFirst().allSatisfy { $0 == nil } && owners.count < 70)
    }

    @Test func eachChildTakesItsOwnRefinements() {
        let queue = EventQueue()
        let first = StackRefinement(thread: ThreadIndex(0), blocking: 1)
        let second = StackRefinement(thread: ThreadIndex(0), blocking: 2)
        queue.add(first)
        queue.add(second, of: ChildIndex(1))
        #expect(queue.takeRefinements(of: ChildIndex(0)).isEmpty)
        #expect(queue.takeRefinements(of: ChildIndex(1)) == [second])
        #expect(queue.takeRefinements() == [first])
        #expect(queue.takeRefinements(of: ChildIndex(1)).isEmpty)
    }
}
