import Architecture
import ProfileModel
import TestSupport
import Testing

@testable import Unwind

/// Walks over code whose tables are known, from hand-made stacks.
@Suite struct WalkTests {
    private let made: HandMade
    private static let stack = HandMade.stack

    init() throws { made = try HandMade() }

    private func expectComplete(
        _ callstack: Callstack, _ addresses: [UInt64],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(callstack.truncation == nil, sourceLocation: sourceLocation)
        #expect(made.addresses(callstack) == addresses, sourceLocation: sourceLocation)
    }

    @Test func fromEveryInstructionOfAFunction() throws {
        let entry = try made.address("entry", 1)
        let saved: UInt64 = 0x1234
        // At the first instruction; behind push; behind mov; behind pop.
        let first = try made.address("plain")
        expectComplete(made.unwind(from: first, framePointer: saved, [entry]), [first, entry])
        let pushed = try made.address("plain_saved")
        expectComplete(
            made.unwind(from: pushed, framePointer: saved, [saved, entry]), [pushed, entry])
        let framed = try made.address("plain_framed")
        expectComplete(
            made.unwind(from: framed, framePointer: Self.stack + 16, [1, 2, saved, entry]),
            [framed, entry])
        let popped = try made.address("plain_after")
        expectComplete(made.unwind(from: popped, framePointer: saved, [entry]), [popped, entry])
    }

    /// Behind `leave`, tables of unoptimised code still have the frame pointer below the stack.
    @Test func aFramePointerThatHasBeenPopped() throws {
        let popped = try made.address("popped", 1)
        let framed = try made.address("plain_framed", 1)
        let entry = try made.address("entry", 1)
        expectComplete(
            made.unwind(from: popped, framePointer: Self.stack + 16, [framed, 7, 0, entry]),
            [popped, framed, entry])
    }

    /// The frame's address was saved below the frame pointer: at its first word here.
    @Test func aRealignedStack() throws {
        let realigned = try made.address("realigned", 1)
        let framed = try made.address("plain_framed", 1)
        let entry = try made.address("entry", 1)
        let words = [
            Self.stack + 48, Self.stack + 48, 0xBAD, 0xBAD, 0xBAD, framed, 0, entry,
        ]
        let stack = made.unwind(from: realigned, framePointer: Self.stack + 8, words)
        expectComplete(stack, [realigned, framed, entry])
        let short = made.unwind(from: realigned, framePointer: Self.stack + 800, words)
        #expect(short.truncation == .stackLimit)
    }

    /// Behind `leave` of such a function the tables have the frame pointer still saved where it points.
    @Test func aRealignedStackThatIsLeft() throws {
        let left = try made.address("realigned_popped", 1)
        let framed = try made.address("plain_framed", 1)
        let entry = try made.address("entry", 1)
        for others in [0, 1, 2] {
            let words = [framed] + [UInt64](repeating: 0xBAD, count: others) + [7, entry]
            let pointer = Self.stack + 8 * UInt64(1 + others)
            expectComplete(
                made.unwind(from: left, framePointer: pointer, words), [left, framed, entry])
        }
    }

    /// Frames that lie further away than any stack: asked for ahead is only what there is.
    @Test func framesAtTheEndsOfTheAddressSpace() throws {
        let framed = try made.address("plain_framed", 1)
        for pointer in [.max - 16, 1 << 63, 1 << 47] as [UInt64] {
            let stack = made.unwind(from: framed, framePointer: pointer, [1, 2])
            #expect(stack.truncation == .stackLimit)
        }
    }

    @Test func aBufferServesManyStacks() throws {
        let entry = try made.address("entry", 1)
        let leaf = try made.address("plain")
        var buffer = FrameBuffer()
        for caller in [entry, 0xDEAD_0000, entry] {
            var registers = Registers(programCounter: leaf, stackPointer: Self.stack)
            registers[Registers.framePointer] = 1
            let snapshot = Snapshot(
                registers: registers, stack: StackCopy(start: Self.stack, words: [caller]))
            Unwinder.prepare(snapshot)
            let truncation = made.unwinder.unwind(snapshot, into: &buffer)
            #expect(truncation == (caller == entry ? nil : .unmappedCode))
            let frames = buffer.frames
            #expect(frames == made.unwinder.unwind(snapshot).frames)
            #expect(frames.count == (caller == entry ? 2 : 1))
        }
    }

    /// The interner returns the result of a separate walk for each snapshot, whatever was unwound
    /// before.
    @Test(arguments: 1...20) func internedStacksAreTheWalks(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let places = try ["plain", "plain_framed", "expression", "entry"].map {
            try made.address($0, 1)
        }
        var interner = StackInterner(unwinder: made.unwinder)
        for _ in 0..<100 {
            var registers = Registers(
                programCounter: places.randomElement(using: &random) ?? 0,
                stackPointer: Self.stack)
            if Bool.random(using: &random) {
                registers[Registers.framePointer] =
                    Self.stack + UInt64.random(in: 0...8, using: &random) * 8
            }
            let words = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? places.randomElement(using: &random) ?? 0
                    : Self.stack + UInt64.random(in: 0...12, using: &random) * 8
            }
            let snapshot = Snapshot(
                registers: registers, stack: StackCopy(start: Self.stack, words: words))
            let expected = made.unwinder.unwind(snapshot)
            let (stack, truncation) = interner.intern(snapshot)
            #expect(truncation == expected.truncation)
            #expect(interner.frameCount == expected.frames.count)
            let frames = stack.map { interner.stacks.frames(of: $0) } ?? []
            #expect(frames == expected.frames.reversed())
        }
    }

    /// A function that calls as its last act returns to the first byte of another one.
    @Test func aReturnAddressBehindTheEndOfItsFunction() throws {
        // Behind `hlt`, entry's last instruction: where expression begins.
        let behind = try made.address("entry", 2)
        #expect(behind == (try made.address("expression")))
        let first = try made.address("plain")
        expectComplete(made.unwind(from: first, [behind]), [first, behind])
    }

    @Test func theCallersFramePointerIsRestored() throws {
        let framed = try made.address("plain_framed", 1)
        let entry = try made.address("entry", 1)
        // plain (rbp saved) called from plain (rbp in use) called from entry.
        let words = [
            Self.stack + 24, framed, 0xBAD, 0, entry,
        ]
        let leaf = try made.address("plain_saved")
        expectComplete(
            made.unwind(from: leaf, framePointer: 0xBAD, words), [leaf, framed, entry])
    }

    @Test func expressionsNeedTheCarefulWalk() throws {
        let entry = try made.address("entry", 1)
        let leaf = try made.address("plain")
        let general = try made.address("expression", 1)
        // plain ← expression: CFA = *(rsp + 8)
        let words = [general, 0xBAD, Self.stack + 32, entry]
        expectComplete(made.unwind(from: leaf, framePointer: 5, words), [leaf, general, entry])
    }

    @Test func anotherRegistersFrame() throws {
        let entry = try made.address("entry", 1)
        let leaf = try made.address("other_register")
        expectComplete(
            made.unwind(from: leaf, [1, 2, entry], others: [10: Self.stack + 16]), [leaf, entry])
        let unknown = made.unwind(from: leaf, [1, 2, entry])
        #expect(unknown.truncation == .unknownRegister)
        #expect(made.addresses(unknown) == [leaf])
    }

    @Test func aBareLeaf() throws {
        let entry = try made.address("entry", 1)
        let leaf = try made.address("bare")
        let caller = try made.address("direct_after")
        // direct_after has no tables either: a frame record follows.
        expectComplete(
            made.unwind(from: leaf, framePointer: Self.stack + 16, [caller, 7, 0, entry]),
            [leaf, caller, entry])
    }

    @Test func aNewThreadHasNoCaller() throws {
        let cloned = try made.address("cloner_after")
        let child = made.unwind(from: cloned, [1, 2], others: [Registers.result: 0])
        expectComplete(child, [cloned])
        let entry = try made.address("entry", 1)
        let caller = try made.address("direct_after")
        let parent = made.unwind(
            from: cloned, framePointer: Self.stack + 8, [caller, 0, entry],
            others: [Registers.result: 4711])
        expectComplete(parent, [cloned, caller, entry])
    }

    @Test func aSignalsFrameLeadsToTheInterruptedInstruction() throws {
        let handler = try made.address("plain")
        let restorer = try made.address("restorer")
        let interrupted = try made.address("plain_framed")
        let entry = try made.address("entry", 1)
        // The return address, then ucontext_t: its 17 registers begin at word 5.
        var context = [UInt64](repeating: 0, count: 40)
        let inner = Self.stack + 8 * 60
        context[5 + 10] = inner + 16  // rbp
        context[5 + 15] = inner  // rsp
        context[5 + 16] = interrupted
        let words = [restorer] + context + [UInt64](repeating: 0, count: 19)
        let frames = [0xBAD, 0xBAD, 0, entry] as [UInt64]
        let stack = made.unwind(from: handler, framePointer: 1, words + frames)
        expectComplete(stack, [handler, restorer, interrupted, entry])
        #expect(
            stack.frames.map(\.address.kind)
                == [.instruction, .instruction, .instruction, .returnAddress])
        let short = made.unwind(from: handler, framePointer: 1, Array(words.prefix(20)))
        #expect(short.truncation == .stackLimit)
    }

    /// Code without tables may have made no frame record. Then the frame pointer leads past its caller.
    @Test func aFrameRecordOfTheCaller() throws {
        let bare = try made.address("bare")
        let (stays, leaves) = (try made.address("stays_after"), try made.address("leaves_after"))
        let others = made.unwind(from: bare, framePointer: Self.stack + 16, [1, 2, 0, stays])
        #expect(others.truncation == .noRule)
        #expect(made.addresses(others) == [bare])
        // The called function has gone on by a jump.
        let own = made.unwind(from: bare, framePointer: Self.stack + 16, [1, 2, 0, leaves])
        expectComplete(own, [bare, leaves])
    }

    @Test func theStackGoesOnBelowWhatWasCopied() throws {
        let framed = try made.address("plain_framed")
        let stack = made.unwind(from: framed, framePointer: Self.stack + 64, [1, 2])
        #expect(stack.truncation == .stackLimit)
        let inwards = made.unwind(from: framed, framePointer: Self.stack - 64, [1, 2])
        #expect(inwards.truncation == .noProgress)
        let unmapped = made.unwind(from: try made.address("plain"), [0xDEAD_0000])
        #expect(unmapped.truncation == .unmappedCode)
    }

    // MARK: Where one walk must not forget what the other can do

    @Test func aNullCallBelowAnExpression() throws {
        let general = try made.address("expression", 1)
        let entry = try made.address("entry", 1)
        let words = [general, 0xBAD, Self.stack + 32, entry]
        expectComplete(made.unwind(from: 0, framePointer: 5, words), [0, general, entry])
    }

    @Test func aBareLeafBelowAnExpression() throws {
        let leaf = try made.address("bare")
        let general = try made.address("expression_call_after")
        let entry = try made.address("entry", 1)
        let words = [general, 0xBAD, Self.stack + 32, entry]
        expectComplete(made.unwind(from: leaf, framePointer: 5, words), [leaf, general, entry])
    }

    @Test func aSystemCallBelowAnExpression() throws {
        let leaf = try made.address("cloner_after")
        let general = try made.address("expression_call_after")
        let entry = try made.address("entry", 1)
        let words = [general, 0xBAD, Self.stack + 32, entry]
        expectComplete(made.unwind(from: leaf, framePointer: 5, words), [leaf, general, entry])
    }
}
