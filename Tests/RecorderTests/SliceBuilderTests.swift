import Architecture
import ProfileModel
import Sampler
import TestSupport
import Testing
import Unwind

@testable import Recorder

extension SliceBuilder {
    fileprivate mutating func add(_ sample: Sample) -> (
        slices: [Slice], refinement: StackRefinement?
    ) {
        var slices: [Slice] = []
        let refinement = add(sample, into: &slices)
        return (slices, refinement)
    }
}

/// Over code without tables: a frame pointer that is known and leads somewhere makes a complete
/// stack, an unknown one a stack that lacks a register.
@Suite struct SliceBuilderTests {
    private static let code: UInt64 = 0x10000
    private static let stack: UInt64 = 0x7000_0000

    private static func builder() -> SliceBuilder {
        let unwinder = Unwinder()
        let mapping = CodeMapping(
            start: code, end: code + 0x10000, fileOffset: 0, path: "", inode: 0)
        _ = unwinder.update([mapping], at: MonotonicTime(nanoseconds: 0))
        return SliceBuilder(unwinder: unwinder)
    }

    /// - Parameter caller: of the leaf at `code + 1`; nil: its frame pointer is not known.
    private static func snapshot(caller: UInt64?) -> Sample.Content {
        var registers = Registers(programCounter: code + 1, stackPointer: stack)
        registers[Registers.framePointer] = caller.map { _ in stack }
        let words: [UInt64] = caller.map { [0, $0] } ?? [7, 7]
        let bytes = words.flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
        }
        return .snapshot(
            Snapshot(registers: registers, stack: StackCopy(start: stack, bytes: bytes)))
    }

    private static func sample(
        _ start: Int64, _ content: Sample.Content, thread: Int = 0, blocking: UInt32 = 0
    ) -> Sample {
        Sample(
            thread: ThreadIndex(thread), start: MonotonicTime(nanoseconds: start),
            times: StateTimes(blocked: TimeSpan(nanoseconds: 10)), content: content,
            systemCall: blocking == 0 ? nil : 202, blocking: blocking)
    }

    private static func starts(_ slices: [Slice]) -> [Int64] { slices.map(\.start.nanoseconds) }

    private static func addresses(_ builder: borrowing SliceBuilder, _ slice: Slice) -> [UInt64] {
        slice.stack.map { builder.stacks.frames(of: $0).map(\.address.value) } ?? []
    }

    @Test func aSampleBecomesASlice() throws {
        var builder = Self.builder()
        let outcome = builder.add(
            Self.sample(5, Self.snapshot(caller: Self.code + 2), thread: 3))
        let slice = try #require(outcome.slices.first)
        #expect(outcome.slices.count == 1 && outcome.refinement == nil)
        #expect(slice.thread == ThreadIndex(3))
        #expect(slice.times == StateTimes(blocked: TimeSpan(nanoseconds: 10)))
        #expect(slice.truncation == nil)
        // Outermost first.
        let addresses = Self.addresses(builder, slice)
        #expect(addresses == [Self.code + 2, Self.code + 1])
    }

    @Test func unchangedIsTheThreadsOwnLastStack() {
        var builder = Self.builder()
        let first = builder.add(Self.sample(0, Self.snapshot(caller: Self.code + 2)))
        _ = builder.add(Self.sample(0, Self.snapshot(caller: Self.code + 9), thread: 1))
        let again = builder.add(Self.sample(10, .unchanged))
        let stacks = [first.slices.first?.stack, again.slices.first?.stack]
        #expect(stacks[0] != nil && stacks[0] == stacks[1])
        // A thread that never had one.
        let other = builder.add(Self.sample(0, .unchanged, thread: 7))
        #expect(other.slices.map(\.stack) == [nil])
        #expect(other.slices.map(\.truncation) == [nil])
    }

    @Test func noStackAndAMissingOneAreToldApart() {
        var builder = Self.builder()
        _ = builder.add(Self.sample(0, Self.snapshot(caller: Self.code + 2)))
        let none = builder.add(Self.sample(10, .none)).slices
        let missing = builder.add(Self.sample(20, .missing(.unreadable))).slices
        let unchanged = builder.add(Self.sample(30, .unchanged)).slices
        #expect((none + missing + unchanged).map(\.stack) == [nil, nil, nil])
        #expect(none.map(\.truncation) == [nil])
        #expect(missing.map(\.truncation) == [.unreadable])
        #expect(unchanged.map(\.truncation) == [.unreadable])
    }

    @Test func aRunningThreadIsNotAskedFor() {
        var builder = Self.builder()
        let outcome = builder.add(Self.sample(0, Self.snapshot(caller: nil)))
        #expect(outcome.refinement == nil)
        #expect(outcome.slices.map(\.truncation) == [.unknownRegister])
    }

    // MARK: Stretches of being blocked

    /// The registers are requested once, and the whole stretch gets the stack that they give.
    @Test func aRefinedStackIsForTheWholeStretch() throws {
        var builder = Self.builder()
        let first = builder.add(Self.sample(0, Self.snapshot(caller: nil), blocking: 4))
        #expect(first.slices.isEmpty)
        #expect(first.refinement == StackRefinement(thread: ThreadIndex(0), blocking: 4))
        let second = builder.add(Self.sample(10, .unchanged, blocking: 4))
        #expect(second.slices.isEmpty && second.refinement == nil)
        let refined = builder.add(
            Self.sample(20, Self.snapshot(caller: Self.code + 2), blocking: 4))
        #expect(Self.starts(refined.slices) == [0, 10, 20])
        #expect(refined.refinement == nil)
        #expect(refined.slices.map(\.truncation) == [nil, nil, nil])
        #expect(Set(refined.slices.map(\.stack)).count == 1)
        let last = try #require(refined.slices.first)
        let addresses = Self.addresses(builder, last)
        #expect(addresses == [Self.code + 2, Self.code + 1])
        // The following samples have it, too.
        let rest = builder.add(Self.sample(30, .unchanged, blocking: 4))
        #expect(rest.slices.map(\.stack) == [last.stack] && rest.refinement == nil)
        #expect(builder.flush().isEmpty)
    }

    @Test func aStretchThatEndsFirstKeepsWhatItHas() {
        var builder = Self.builder()
        _ = builder.add(Self.sample(0, Self.snapshot(caller: nil), blocking: 1))
        _ = builder.add(Self.sample(10, .unchanged, blocking: 1))
        let next = builder.add(Self.sample(20, Self.snapshot(caller: Self.code + 2)))
        #expect(Self.starts(next.slices) == [0, 10, 20])
        #expect(next.slices.map(\.truncation) == [.unknownRegister, .unknownRegister, nil])
        let partial = next.slices.first.map { Self.addresses(builder, $0) }
        #expect(partial == [Self.code + 1])
    }

    @Test func theNextStretchAsksAnew() {
        var builder = Self.builder()
        _ = builder.add(Self.sample(0, Self.snapshot(caller: nil), blocking: 1))
        let next = builder.add(Self.sample(10, Self.snapshot(caller: nil), blocking: 2))
        #expect(Self.starts(next.slices) == [0])
        #expect(next.refinement == StackRefinement(thread: ThreadIndex(0), blocking: 2))
    }

    @Test func threadsAreHeldApart() {
        var builder = Self.builder()
        _ = builder.add(Self.sample(0, Self.snapshot(caller: nil), blocking: 1))
        let other = builder.add(
            Self.sample(5, Self.snapshot(caller: Self.code + 2), thread: 1, blocking: 1))
        #expect(Self.starts(other.slices) == [5])
        let refined = builder.add(
            Self.sample(10, Self.snapshot(caller: Self.code + 2), blocking: 1))
        #expect(Self.starts(refined.slices) == [0, 10])
    }

    @Test func heldSlicesAreFlushedAtTheEnd() {
        var builder = Self.builder()
        _ = builder.add(Self.sample(0, Self.snapshot(caller: nil), blocking: 1))
        _ = builder.add(Self.sample(10, .unchanged, blocking: 1))
        _ = builder.add(Self.sample(5, Self.snapshot(caller: nil), thread: 2, blocking: 9))
        let rest = builder.flush()
        #expect(Self.starts(rest) == [0, 10, 5])
        #expect(rest.allSatisfy { $0.truncation == .unknownRegister && $0.systemCall == 202 })
        #expect(builder.flush().isEmpty)
    }

    /// A stop disturbs: one for each stretch, whether or not it helped.
    @Test func registersThatDoNotHelpAreNotAskedForAgain() {
        var builder = Self.builder()
        let first = builder.add(Self.sample(0, Self.snapshot(caller: nil), blocking: 1))
        #expect(first.refinement != nil)
        let refined = builder.add(Self.sample(10, Self.snapshot(caller: nil), blocking: 1))
        #expect(refined.refinement == nil)
        for start in [20, 30] as [Int64] {
            let rest = builder.add(Self.sample(start, .unchanged, blocking: 1))
            #expect(rest.refinement == nil)
        }
    }

    /// The recorder was behind when the registers came: the earlier stack is not lost.
    @Test func aLostRefinementDoesNotTakeWhatWasThere() {
        var builder = Self.builder()
        _ = builder.add(Self.sample(0, Self.snapshot(caller: nil), blocking: 1))
        let lost = builder.add(Self.sample(10, .missing(.lost), blocking: 1)).slices
        let slices = lost + builder.flush()
        let held = slices.first { $0.start.nanoseconds == 0 }
        #expect(held?.truncation == .unknownRegister)
        #expect(held?.stack != nil)
    }

    @Test func everyNanosecondComesOutOnceAndInOrder() {
        var random = SeededNumbers(seed: 59)
        var builder = Self.builder()
        var slices: [[Slice]] = [[], [], []]
        var starts: [Int64] = [0, 0, 0]
        var blocking: [UInt32] = [1, 1, 1]
        for _ in 0..<3000 {
            let thread = Int.random(in: 0..<3, using: &random)
            if Int.random(in: 0..<4, using: &random) == 0 { blocking[thread] += 1 }
            let contents: [Sample.Content] = [
                .unchanged, .none, .missing(.lost), Self.snapshot(caller: nil),
                Self.snapshot(caller: Self.code + 2),
            ]
            let isBlocked = Bool.random(using: &random)
            let outcome = builder.add(
                Self.sample(
                    starts[thread], contents.randomElement(using: &random) ?? .none,
                    thread: thread, blocking: isBlocked ? blocking[thread] : 0))
            for slice in outcome.slices { slices[slice.thread.rawValue].append(slice) }
            starts[thread] += 10
        }
        for slice in builder.flush() { slices[slice.thread.rawValue].append(slice) }
        for thread in 0..<3 {
            let expected = Array(stride(from: 0, to: starts[thread], by: 10))
            #expect(Self.starts(slices[thread]) == expected)
        }
    }
}
