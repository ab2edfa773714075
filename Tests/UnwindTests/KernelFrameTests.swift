import Architecture
import ProfileModel
import Testing

@testable import Unwind

/// The kernel's part of a stack, below the program's.
@Suite struct KernelFrameTests {
    private let made: HandMade
    private static let kernel: UInt64 = 0xFFFF_FFFF_8100_0000
    private static let module: UInt64 = 0xFFFF_FFFF_C000_0000

    init() throws {
        made = try HandMade()
        _ = made.unwinder.update(made.mappings + Self.code, at: MonotonicTime(nanoseconds: 3))
    }

    private static let code = [
        CodeMapping(
            start: kernel, end: kernel + 0x1000, fileOffset: 0, path: "[kernel]", inode: 0,
            buildID: [1, 2]),
        CodeMapping(
            start: module, end: module + 0x1000, fileOffset: 0, path: "[kernel:loop]", inode: 0),
    ]

    private func interned(
        _ words: [UInt64], chain: [UInt64]
    ) -> (frames: [FrameAddress], truncation: Truncation?) {
        var interner = StackInterner(unwinder: made.unwinder)
        var registers = Registers(
            programCounter: HandMade.code + 1, stackPointer: HandMade.stack)
        registers[Registers.framePointer] = HandMade.stack
        let (stack, truncation) = interner.intern(
            Snapshot(
                registers: registers, stack: StackCopy(start: HandMade.stack, words: words),
                kernelChain: chain))
        return (stack.map { interner.stacks.frames(of: $0) } ?? [], truncation)
    }

    @Test func theKernelIsWhatTheProgramCalled() {
        let chain = [Self.module + 0x10, Self.kernel + 0x20, Self.kernel + 0xFFF]
        let (frames, truncation) = interned([0, 0], chain: chain)
        #expect(truncation == nil)
        #expect(frames.map(\.address.value) == [HandMade.code + 1, 0xFFF, 0x20, 0x10])
        let names = frames.map { $0.module.map { made.unwinder.modules[$0.rawValue].path } }
        #expect(names == [nil, "[kernel]", "[kernel]", "[kernel:loop]"])
    }

    /// An interrupt may come at a function's first instruction: the byte before has another name.
    @Test func aFrameBelowAnInterruptIsNotLookedUpBefore() {
        let (frames, _) = interned([0, 0], chain: [Self.kernel + 0x40, Self.kernel + 0x20])
        #expect(frames.map(\.address.kind) == [.instruction, .instruction, .instruction])
    }

    @Test func whereNothingIsKnownThereIsAnAddress() {
        let chain = [Self.kernel - 8, UInt64.max - 5000, 17]
        let (frames, _) = interned([0, 0], chain: chain)
        #expect(
            frames.map(\.address.value) == [
                HandMade.code + 1, 17, UInt64.max - 5000, Self.kernel - 8,
            ])
        #expect(frames.allSatisfy { $0.module == nil })
    }

    @Test func theProgramsStackIsAsTruncatedAsWithoutIt() {
        let (frames, truncation) = interned([1, 2], chain: [Self.kernel])
        #expect(truncation == .noRule)
        #expect(frames.count == 2)
    }

    /// A program may write anything to its stack.
    @Test func noWalkLeadsThroughTheKernel() {
        let words = [HandMade.stack + 16, Self.kernel + 8, 0, HandMade.code + 2]
        let (frames, truncation) = interned(words, chain: [])
        #expect(truncation == .noRule)
        #expect(frames.count == 1)
        #expect(made.unwinder.frame(ofInstruction: Self.kernel) == nil)
    }

    @Test func eachMappingIsReportedOnce() {
        let space = made.unwinder
        #expect(space.update(made.mappings + Self.code, at: .init(nanoseconds: 4)).isEmpty)
        #expect(space.update(made.mappings, at: .init(nanoseconds: 5)).isEmpty)
        let added = space.update(made.mappings + Self.code, at: .init(nanoseconds: 6))
        #expect(added.map(\.start) == [Self.kernel, Self.module])
        #expect(added.map(\.bias) == [Self.kernel, Self.module])
        #expect(made.unwinder.modules.filter { Module.isKernel($0.path) }.count == 2)
        #expect(made.unwinder.modules.contains(Module(path: "[kernel]", buildID: [1, 2])))
    }

    @Test func mappingsThatCannotBeAreLeftOut() {
        let bad = [
            CodeMapping(start: 9, end: 9, fileOffset: 0, path: "[kernel]", inode: 0),
            CodeMapping(start: 20, end: 10, fileOffset: 0, path: "[kernel]", inode: 0),
            CodeMapping(start: 100, end: 200, fileOffset: .max, path: "[kernel]", inode: 0),
            CodeMapping(start: 150, end: 250, fileOffset: 0, path: "[kernel:b]", inode: 0),
        ]
        let added = Unwinder().update(bad, at: .init(nanoseconds: 1))
        #expect(added.map(\.start) == [100])
    }
}
