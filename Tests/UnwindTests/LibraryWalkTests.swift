import ProfileModel
import TestSupport
import Testing

@testable import Unwind

/// libunwind over the same hand-made stacks as our own walks.
@Suite struct LibraryWalkTests {
    private static let stack = HandMade.stack

    private func expectComplete(
        _ made: HandMade, _ callstack: Callstack, _ addresses: [UInt64],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(callstack.truncation == nil, sourceLocation: sourceLocation)
        #expect(made.addresses(callstack) == addresses, sourceLocation: sourceLocation)
    }

    @Test func fromEveryInstructionOfAFunction() throws {
        let made = try HandMade(engine: .libunwind)
        let entry = try made.address("entry", 1)
        let saved: UInt64 = 0x1234
        for (name, words) in [("plain", [entry]), ("plain_saved", [saved, entry])] {
            let place = try made.address(name)
            expectComplete(
                made, made.unwind(from: place, framePointer: saved, words), [place, entry])
        }
        let framed = try made.address("plain_framed")
        let stack = made.unwind(from: framed, framePointer: Self.stack + 16, [1, 2, saved, entry])
        expectComplete(made, stack, [framed, entry])
        #expect(stack.frames.map(\.address.kind) == [.instruction, .returnAddress])
    }

    /// Only copied memory is read, and the missing part determines the reason for the stack's end.
    @Test func missingMemoryEndsTheWalk() throws {
        let made = try HandMade(engine: .libunwind)
        let pushed = try made.address("plain_saved")
        #expect(made.unwind(from: pushed, framePointer: 1, [1]).truncation == .stackLimit)
        let framed = try made.address("plain_framed")
        #expect(made.unwind(from: framed, [1]).truncation == .unknownRegister)
        #expect(made.unwind(from: framed, framePointer: .max - 16, [1]).truncation == .stackLimit)
        let away = made.unwind(from: pushed, framePointer: 1, [1, 0xDEAD_0000])
        #expect(away.truncation == .unmappedCode && away.frames.count == 1)
        // Code without tables: it is not known whether the stack goes on.
        let nowhere = made.unwind(from: HandMade.code, framePointer: 0, [1])
        #expect(nowhere.truncation != nil && nowhere.frames.count == 1)
    }

    /// Tables that never end, that divide so that it traps, that name a register of which there is none:
    /// libunwind does not get to see them.
    @Test(.timeLimit(.minutes(1)), arguments: ["endless", "dividing", "far_register"])
    func tablesThatWouldHarmIt(name: String) throws {
        for made in [try HandMade(engine: .libunwind), try HandMade()] {
            let place = try made.address(name, 1)
            let stack = made.unwind(from: place, framePointer: 1, [try made.address("entry", 1)])
            #expect(made.addresses(stack).first == place)
        }
    }

    /// Rules of code that is gone are not used for code that is mapped in its place.
    @Test func codeThatIsReplaced() throws {
        let made = try HandMade(engine: .libunwind)
        let entry = try made.address("entry", 1)
        let place = try made.address("plain")
        expectComplete(made, made.unwind(from: place, framePointer: 1, [entry]), [place, entry])
        _ = made.unwinder.update([made.mappings[0]], at: MonotonicTime(nanoseconds: 1))
        #expect(made.unwind(from: place, framePointer: 1, [entry]).frames.count == 1)
        made.update()
        expectComplete(made, made.unwind(from: place, framePointer: 1, [entry]), [place, entry])
    }

    /// Behind a call that never returns another function begins: as a return address it is in the one
    /// that calls. libunwind keeps rules by address, and must not take the one's for the other's.
    @Test(arguments: [UnwindEngine.libunwind, .quick])
    func anInstructionIsNoReturnAddress(engine: UnwindEngine) throws {
        let made = try HandMade(engine: engine)
        let (plain, entry) = (try made.address("plain"), try made.address("entry", 1))
        let behind = try made.address("behind_never_back")
        for _ in 0..<2 {
            let leaf = made.unwind(from: behind, framePointer: 1, [entry])
            expectComplete(made, leaf, [behind, entry])
            let called = made.unwind(from: plain, framePointer: 1, [behind, 7, 7, 7, entry])
            expectComplete(made, called, [plain, behind, entry])
        }
    }

    /// An interrupted instruction is looked up at its own address, and not before it, as a call is.
    @Test(arguments: [UnwindEngine.libunwind, .quick])
    func anInterruptedInstruction(engine: UnwindEngine) throws {
        let made = try HandMade(engine: engine)
        let (plain, entry) = (try made.address("plain"), try made.address("entry", 1))
        let handled = try made.address("handler_return", 1)
        for _ in 0..<2 {
            let stack = made.unwind(from: plain, framePointer: 1, [handled, plain, entry])
            expectComplete(made, stack, [plain, handled, plain, entry])
            let kinds = stack.frames.map(\.address.kind)
            #expect(kinds == [.instruction, .instruction, .instruction, .returnAddress])
        }
    }
}

@Suite struct SecondOpinionTests {
    /// `DW_OP_abs` is not in our evaluator: only libunwind can finish this one.
    @Test func stacksThatOnlyLibunwindFinishes() throws {
        let opinion = SecondOpinion()
        let made = try HandMade(opinion: opinion)
        let absolute = try made.address("absolute", 1)
        let framed = try made.address("plain_framed", 1)
        let entry = try made.address("entry", 1)
        let stack = made.unwind(
            from: absolute, framePointer: HandMade.stack + 32, [7, framed, 7, 7, 7, entry])
        #expect(stack.truncation == nil)
        #expect(made.addresses(stack) == [absolute, framed, entry])
        #expect(opinion.asked == 1 && opinion.saved == 1)
        // Where it cannot either, ours stays as it was.
        let short = made.unwind(from: absolute, framePointer: HandMade.stack + 32, [7, framed])
        #expect(short.truncation == .noRule && made.addresses(short) == [absolute])
        #expect(opinion.asked == 2 && opinion.saved == 1 && opinion.declined == 0)
    }

    /// libunwind is not asked where there is a rule, however the stack ends.
    @Test func onlyForWantOfARule() throws {
        let opinion = SecondOpinion()
        let made = try HandMade(opinion: opinion)
        let pushed = try made.address("plain_saved")
        _ = made.unwind(from: pushed, framePointer: 1, [1])
        _ = made.unwind(from: pushed, framePointer: 1, [1, 0xDEAD_0000])
        _ = made.unwind(from: pushed, framePointer: 1, [1, try made.address("entry", 1)])
        #expect(opinion.asked == 0)
    }

    /// Of a thread's time it takes a hundredth, and a little beforehand.
    @Test func theBudget() throws {
        let opinion = SecondOpinion(share: .max)
        let made = try HandMade(opinion: opinion)
        let absolute = try made.address("absolute", 1)
        let entry = try made.address("entry", 1)
        for _ in 0..<1_000_000 where opinion.declined < 3 {
            // The library's first answers take the longest.
            made.update()
            _ = made.unwind(from: absolute, framePointer: 1, [7, entry])
        }
        #expect(opinion.declined == 3 && opinion.asked > 0 && opinion.saved == opinion.asked)
        let stack = made.unwind(from: absolute, framePointer: 1, [7, entry])
        #expect(stack.truncation == .noRule && made.addresses(stack) == [absolute])
    }

    /// Without our own walk's rules, it has one frame, and the rest is libunwind's.
    @Test func withoutOurRules() throws {
        let made = try HandMade(opinion: SecondOpinion(share: 1))
        made.unwinder.hasRules = false
        let pushed = try made.address("plain_saved")
        let entry = try made.address("entry", 1)
        let stack = made.unwind(from: pushed, framePointer: 5, [5, entry])
        #expect(stack.truncation == nil && made.addresses(stack) == [pushed, entry])
    }
}
