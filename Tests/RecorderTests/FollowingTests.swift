import Architecture
import ProfileModel
import Sampler
import TestSupport
import Testing
import Unwind

@testable import Recorder

extension SliceBuilder {
    fileprivate mutating func add(_ sample: Sample) -> [Slice] {
        var slices: [Slice] = []
        _ = add(sample, into: &slices)
        return slices
    }
}

/// Slices whose stack is that of the thread's next sample while it runs.
@Suite struct FollowingTests {
    private static let code: UInt64 = 0x10000
    private static let stack: UInt64 = 0x7000_0000

    private static func builder() -> SliceBuilder {
        let unwinder = Unwinder()
        let mapping = CodeMapping(
            start: code, end: code + 0x10000, fileOffset: 0, path: "", inode: 0)
        _ = unwinder.update([mapping], at: MonotonicTime(nanoseconds: 0))
        return SliceBuilder(unwinder: unwinder)
    }

    /// - Parameter caller: nil: a stack that lacks a register.
    private static func snapshot(_ caller: UInt64?) -> Sample.Content {
        var registers = Registers(programCounter: code + 1, stackPointer: stack)
        registers[Registers.framePointer] = caller.map { _ in stack }
        let words: [UInt64] = caller.map { [0, code + $0] } ?? [7, 7]
        let bytes = words.flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
        }
        return .snapshot(
            Snapshot(registers: registers, stack: StackCopy(start: stack, bytes: bytes)))
    }

    private static func sample(
        _ start: Int64, _ content: Sample.Content, thread: Int = 0, blocking: UInt32 = 0
    ) -> Sample {
        let span = TimeSpan(nanoseconds: 10)
        return Sample(
            thread: ThreadIndex(thread), start: MonotonicTime(nanoseconds: start),
            times: blocking == 0 ? StateTimes(running: span) : StateTimes(blocked: span),
            content: content, systemCall: blocking == 0 ? nil : 202, blocking: blocking)
    }

    private static func starts(_ slices: [Slice]) -> [Int64] { slices.map(\.start.nanoseconds) }

    private static func caller(_ builder: borrowing SliceBuilder, _ slice: Slice) -> UInt64? {
        guard let stack = slice.stack else { return nil }
        return builder.stacks.frames(of: stack).first.map { $0.address.value - code }
    }

    private static func callers(
        _ builder: borrowing SliceBuilder, _ slices: [Slice]
    ) -> [UInt64?] {
        var callers: [UInt64?] = []
        for slice in slices { callers.append(caller(builder, slice)) }
        return callers
    }

    @Test func theStackOfWhatFollows() {
        var builder = Self.builder()
        #expect(builder.add(Self.sample(0, .following)).isEmpty)
        let slices = builder.add(Self.sample(10, Self.snapshot(2)))
        #expect(Self.starts(slices) == [0, 10])
        let callers = Self.callers(builder, slices)
        #expect(callers == [2, 2])
        #expect(slices.map(\.truncation) == [nil, nil])
        #expect(slices.allSatisfy { $0.times == StateTimes(running: TimeSpan(nanoseconds: 10)) })
        #expect(builder.flush().isEmpty)
    }

    /// The thread's earlier stack is not that of its later work.
    @Test func notTheStackOfWhatWasBefore() {
        var builder = Self.builder()
        _ = builder.add(Self.sample(0, Self.snapshot(2)))
        _ = builder.add(Self.sample(10, .following))
        let slices = builder.add(Self.sample(20, Self.snapshot(3)))
        let callers = Self.callers(builder, slices)
        #expect(callers == [3, 3])
    }

    /// Waits have stacks of their own, and wait for their turn.
    @Test func orderIsKept() {
        var builder = Self.builder()
        var slices = builder.add(Self.sample(0, .following))
        slices += builder.add(Self.sample(10, Self.snapshot(5), blocking: 1))
        slices += builder.add(Self.sample(20, .unchanged, blocking: 1))
        slices += builder.add(Self.sample(30, .following))
        slices += builder.add(Self.sample(40, Self.snapshot(6), blocking: 2))
        #expect(slices.isEmpty)
        slices = builder.add(Self.sample(50, Self.snapshot(7)))
        #expect(Self.starts(slices) == [0, 10, 20, 30, 40, 50])
        let callers = Self.callers(builder, slices)
        #expect(callers == [7, 5, 5, 7, 6, 7])
        #expect(slices.map(\.systemCall) == [nil, 202, 202, nil, 202, nil])
    }

    @Test func threadsDoNotWaitForOneAnother() {
        var builder = Self.builder()
        _ = builder.add(Self.sample(0, .following))
        let other = builder.add(Self.sample(0, Self.snapshot(4), thread: 1))
        #expect(other.map(\.thread) == [ThreadIndex(1)])
        let first = builder.add(Self.sample(10, Self.snapshot(2)))
        #expect(first.map(\.thread) == [ThreadIndex(0), ThreadIndex(0)])
        let callers = Self.callers(builder, first)
        #expect(callers == [2, 2])
    }

    @Test func whereThereIsNoneItIsSaid() {
        var builder = Self.builder()
        _ = builder.add(Self.sample(0, .following))
        let slices = builder.add(Self.sample(10, .missing(.notSampled)))
        #expect(Self.starts(slices) == [0, 10])
        #expect(slices.map(\.truncation) == [.notSampled, .notSampled])
        #expect(slices.map(\.stack) == [nil, nil])
    }

    /// A sample that was dropped on its way says nothing about the time before: the next one does.
    @Test(arguments: [Truncation.lost, .unreadable]) func lostSamplesAreNoAnswer(
        reason: Truncation
    ) {
        var builder = Self.builder()
        _ = builder.add(Self.sample(0, .following))
        #expect(builder.add(Self.sample(10, .missing(reason))).isEmpty)
        let slices = builder.add(Self.sample(20, Self.snapshot(2)))
        #expect(Self.starts(slices) == [0, 10, 20])
        let callers = Self.callers(builder, slices)
        #expect(callers == [2, nil, 2])
        #expect(slices.map(\.truncation) == [nil, reason, nil])
    }

    @Test func atTheEnd() {
        var builder = Self.builder()
        _ = builder.add(Self.sample(0, .following))
        _ = builder.add(Self.sample(10, Self.snapshot(5), blocking: 1))
        _ = builder.add(Self.sample(20, .following))
        _ = builder.add(Self.sample(0, .following, thread: 2))
        let slices = builder.flush()
        #expect(Self.starts(slices) == [0, 10, 20, 0])
        #expect(slices.map(\.truncation) == [.notSampled, nil, .notSampled, .notSampled])
        let callers = Self.callers(builder, slices)
        #expect(callers == [nil, 5, nil, nil])
        #expect(builder.flush().isEmpty)
        // A stack after an end has nothing to do with the time before.
        let later = builder.add(Self.sample(30, Self.snapshot(2)))
        #expect(Self.starts(later) == [30])
    }

    // MARK: Together with slices that wait for registers

    @Test func bothWaysOfWaiting() {
        var builder = Self.builder()
        var slices = builder.add(Self.sample(0, .following))
        slices += builder.add(Self.sample(10, Self.snapshot(nil), blocking: 1))
        slices += builder.add(Self.sample(20, .unchanged, blocking: 1))
        slices += builder.add(Self.sample(30, Self.snapshot(5), blocking: 1))
        slices += builder.add(Self.sample(40, .unchanged, blocking: 1))
        #expect(slices.isEmpty)
        slices = builder.add(Self.sample(50, Self.snapshot(2)))
        #expect(Self.starts(slices) == [0, 10, 20, 30, 40, 50])
        let callers = Self.callers(builder, slices)
        #expect(callers == [2, 5, 5, 5, 5, 2])
    }

    @Test func heldWhenTheThreadGoesOn() {
        var builder = Self.builder()
        _ = builder.add(Self.sample(0, Self.snapshot(nil), blocking: 1))
        // It was held for its registers, and now for nothing any more.
        let first = builder.add(Self.sample(10, .following))
        #expect(Self.starts(first) == [0])
        #expect(first.map(\.truncation) == [.unknownRegister])
        _ = builder.add(Self.sample(20, Self.snapshot(nil), blocking: 2))
        let rest = builder.add(Self.sample(30, Self.snapshot(2)))
        #expect(Self.starts(rest) == [10, 20, 30])
        #expect(rest.map(\.truncation) == [nil, .unknownRegister, nil])
        // The registers of a stretch that is over come too late.
        let late = builder.add(Self.sample(40, Self.snapshot(9), blocking: 1))
        #expect(Self.starts(late) == [40])
    }

    @Test func heldAtTheEnd() {
        var builder = Self.builder()
        _ = builder.add(Self.sample(0, .following))
        _ = builder.add(Self.sample(10, Self.snapshot(nil), blocking: 1))
        let slices = builder.flush()
        #expect(Self.starts(slices) == [0, 10])
        #expect(slices.map(\.truncation) == [.notSampled, .unknownRegister])
    }

    // MARK: How many

    @Test func tooManyAreHandedOut() {
        var builder = Self.builder()
        var slices: [Slice] = []
        var most = 0
        for index in 0..<10000 {
            slices += builder.add(Self.sample(Int64(10 * index), .following))
            most = max(most, index + 1 - slices.count)
        }
        #expect(most == 4096)
        #expect(slices.count == 2 * 4097)
        slices += builder.add(Self.sample(100_000, Self.snapshot(2)))
        #expect(Self.starts(slices) == Array(stride(from: 0, through: 100_000, by: 10)))
        #expect(slices.prefix(2 * 4097).allSatisfy { $0.truncation == .notSampled })
        #expect(slices.dropFirst(2 * 4097).allSatisfy { $0.stack != nil })
    }

    /// Those that only wait for their turn count, too.
    @Test func tooManyOfBothKindsAreHandedOut() {
        var builder = Self.builder()
        var slices: [Slice] = []
        var most = 0
        for index in 0..<9000 {
            let isWait = index % 2 == 1
            slices += builder.add(
                Self.sample(
                    Int64(10 * index), isWait ? Self.snapshot(5) : .following,
                    blocking: isWait ? UInt32(index) : 0))
            most = max(most, index + 1 - slices.count)
        }
        #expect((4096...4097).contains(most))
        slices += builder.flush()
        #expect(Self.starts(slices) == Array(stride(from: 0, to: 90_000, by: 10)))
    }

    /// One that waits, and then only others behind it.
    @Test func theQueueBehindAWaitIsBounded() {
        var builder = Self.builder()
        var kept = builder.add(Self.sample(0, .following)).isEmpty ? 1 : 0
        for index in 1...5000 {
            kept += 1
            kept -= builder.add(Self.sample(Int64(10 * index), .missing(.lost))).count
        }
        #expect(kept <= 4097)
    }

    // MARK: A later program

    /// Before an exec the thread had another program's stacks.
    @Test func theNextProgramsStackIsNotTheLastOnes() {
        var builder = Self.builder()
        _ = builder.add(Self.sample(0, .following))
        // The sample that closes an image.
        var slices = builder.add(Self.sample(10, .none))
        builder.leaveImage(into: &slices)
        slices += builder.add(Self.sample(20, Self.snapshot(2)))
        #expect(Self.starts(slices) == [0, 10, 20])
        let first = slices.first.flatMap { Self.caller(builder, $0) }
        #expect(first == nil)
    }

    // MARK: Any order

    /// For any samples: each thread's slices are its samples, in their order, with their times.
    @Test(arguments: 0..<40) func slicesAreTheSamples(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var builder = Self.builder()
        var sent: [[Sample]] = [[], [], []]
        var slices: [[Slice]] = [[], [], []]
        var blocking: [UInt32] = [1, 1, 1]
        let isRare = Bool.random(using: &random)
        for _ in 0..<2000 {
            let thread = Int.random(in: 0..<3, using: &random)
            let isBlocked = Int.random(in: 0..<3, using: &random) > 0
            if Int.random(in: 0..<3, using: &random) == 0 { blocking[thread] += 1 }
            let running: [Sample.Content] = [
                .following, .following, .unchanged, .none, .missing(.lost),
                .missing(.notSampled), isRare ? .following : Self.snapshot(2), Self.snapshot(nil),
            ]
            let waiting: [Sample.Content] = [
                .unchanged, .unchanged, .missing(.unreadable), Self.snapshot(nil),
                Self.snapshot(nil), Self.snapshot(3),
            ]
            let content = (isBlocked ? waiting : running).randomElement(using: &random) ?? .none
            let start = sent[thread].last.map { $0.start + $0.times.wall }
            func span() -> TimeSpan {
                TimeSpan(nanoseconds: Int64.random(in: 0...1000, using: &random))
            }
            let sample = Sample(
                thread: ThreadIndex(thread), start: start ?? MonotonicTime(nanoseconds: 7),
                times: isBlocked
                    ? StateTimes(blocked: span())
                    : StateTimes(running: span(), runnable: span(), preempted: span()),
                content: content, systemCall: isBlocked ? 202 : nil,
                blocking: isBlocked ? blocking[thread] : 0)
            sent[thread].append(sample)
            for slice in builder.add(sample) { slices[slice.thread.rawValue].append(slice) }
        }
        for slice in builder.flush() { slices[slice.thread.rawValue].append(slice) }
        for thread in 0..<3 {
            #expect(slices[thread].map(\.start) == sent[thread].map(\.start))
            #expect(slices[thread].map(\.times) == sent[thread].map(\.times))
            #expect(slices[thread].map(\.systemCall) == sent[thread].map(\.systemCall))
            var wrong = 0
            for (slice, sample) in zip(slices[thread], sent[thread]) {
                guard case .following = sample.content else { continue }
                // A stack that a running thread had, or the word that there is none.
                let caller = Self.caller(builder, slice)
                let isSaid = slice.stack != nil || slice.truncation == .notSampled
                if caller == 3 || !isSaid { wrong += 1 }
            }
            #expect(wrong == 0)
        }
    }

    /// Each waits for the next stack of its thread while that runs, and for nothing else.
    @Test(arguments: 0..<20) func eachGetsTheNextStack(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var builder = Self.builder()
        var expected: [UInt64?] = []
        var open: [Int] = []
        var slices: [Slice] = []
        for index in 0..<1500 {
            let start = Int64(10 * index)
            switch Int.random(in: 0..<10, using: &random) {
            case 0...3:
                open.append(expected.count)
                expected.append(nil)
                slices += builder.add(Self.sample(start, .following))
            case 4...7:
                expected.append(5)
                slices += builder.add(
                    Self.sample(start, Self.snapshot(5), blocking: UInt32(index + 1)))
            case 8:
                expected.append(nil)
                open.removeAll()
                slices += builder.add(Self.sample(start, .missing(.notSampled)))
            default:
                let caller = UInt64.random(in: 6...60, using: &random)
                for place in open { expected[place] = caller }
                open.removeAll()
                expected.append(caller)
                slices += builder.add(Self.sample(start, Self.snapshot(caller)))
            }
        }
        slices += builder.flush()
        let callers = Self.callers(builder, slices)
        #expect(callers == expected)
    }
}
