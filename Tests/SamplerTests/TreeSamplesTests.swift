import Architecture
import CSystem
import Glibc
import ProfileModel
import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

/// The kernel's events about a thread, and about those that it starts.
@Suite struct TreeSamplesTests {
    private static let isPermitted: Bool = {
        let event = fl_open_tree_samples(OwnSignposts.thread, 0, 1_000_000, 4096, 1, 0)
        if event >= 0 { close(event) }
        return event >= 0
    }()

    /// A thread that computes until it is asked to end.
    private final class Worker: @unchecked Sendable {
        private var thread = pthread_t()
        private var numbers: [Int32] = [0, 0]
        let tid: Int32

        init() {
            pipe(&numbers)
            let box = Box(numbers[1])
            pthread_create(
                &thread, nil,
                { raw in
                    guard let raw else { return nil }
                    let box = Unmanaged<Box>.fromOpaque(raw).takeRetainedValue()
                    var tid = OwnSignposts.thread
                    write(box.number, &tid, 4)
                    var random = SeededNumbers(seed: 2)
                    var sum: UInt64 = 0
                    // The pipe's other end is closed when it is enough.
                    while true {
                        for _ in 0..<100_000 { sum &+= random.next() }
                        var end = pollfd(fd: box.number, events: 0, revents: 0)
                        if poll(&end, 1, 0) > 0 { break }
                    }
                    return sum == 0 ? raw : nil
                }, Unmanaged.passRetained(box).toOpaque())
            var tid: Int32 = 0
            read(numbers[0], &tid, 4)
            self.tid = tid
        }

        func end() {
            close(numbers[0])
            pthread_join(thread, nil)
            close(numbers[1])
        }

        private final class Box: @unchecked Sendable {
            let number: Int32
            init(_ number: Int32) { self.number = number }
        }
    }

    @Test(
        .enabled(if: isPermitted || isContinuousIntegration, "perf events are not permitted here"))
    func eachThreadsAreItsOwn() throws {
        let own = OwnSignposts.thread
        let tree = try TreeSamples(of: own, interval: 1_000_000)
        // Later than the events, so it inherits them.
        let worker = Worker()
        let unfollowed = Worker()
        tree.follow(own)
        tree.follow(worker.tid)
        let samples = ThreadSamples(
            tid: worker.tid, cpu: 5_000_000, interval: 1_000_000, of: tree)
        var (ours, theirs): ([TreeSamples.Observation], [TreeSamples.Observation]) = ([], [])
        var random = SeededNumbers(seed: 1)
        var sum: UInt64 = 0
        for _ in 0..<100_000 where ours.count < 8 || theirs.count < 8 {
            for _ in 0..<2000 { sum &+= random.next() }
            ours += tree.take(own)
            theirs += samples.take()
        }
        worker.end()
        unfollowed.end()
        #expect(ours.count >= 8 && theirs.count >= 8 && sum != 0)
        for found in [ours, theirs] {
            for (earlier, later) in zip(found, found.dropFirst()) {
                #expect(earlier.time < later.time)
            }
        }
        // Each on its own stack, none on the other's.
        let stacks = [ours, theirs].map { Set($0.map { $0.registers.stackPointer >> 20 }) }
        #expect(stacks[0].isDisjoint(with: stacks[1]))
        // One interval apart, after the earlier CPU time.
        #expect(theirs.allSatisfy { $0.cpu >= 6_000_000 })
        for (earlier, later) in zip(theirs, theirs.dropFirst()) {
            #expect(later.cpu - earlier.cpu >= 1_000_000)
        }
        #expect(tree.take(unfollowed.tid).isEmpty)
        tree.forget(own)
        #expect(tree.take(own).isEmpty)
    }

    /// A thread without a core has used exactly the kernel's figure.
    @Test(
        .enabled(if: isPermitted || isContinuousIntegration, "perf events are not permitted here"))
    func theClockIsSetAnew() throws {
        let own = OwnSignposts.thread
        let tree = try TreeSamples(of: own, interval: 1_000_000)
        let samples = ThreadSamples(tid: own, cpu: 0, interval: 1_000_000, of: tree)
        var random = SeededNumbers(seed: 1)
        func found() -> [TreeSamples.Observation] {
            var found: [TreeSamples.Observation] = []
            for _ in 0..<100_000 where found.isEmpty {
                for _ in 0..<2000 { _ = random.next() }
                found = samples.take()
            }
            return found
        }
        #expect(!found().isEmpty)
        for cpu in [1 << 40, 1 << 41] as [Int64] {
            samples.calibrate(cpu: cpu)
            #expect(found().first?.cpu == cpu + 1_000_000)
        }
    }

    @Test func aMissingProcessHasNoSamples() {
        #expect(throws: SystemError.self) { try TreeSamples(of: Int32.max, interval: 1_000_000) }
        #expect(throws: SystemError.self) { try TreeSamples(of: .min, interval: 1_000_000) }
    }
}
