import Architecture
import ProfileModel

/// Unwinding from the stack itself where tables are missing: frame records (saved frame pointer,
/// return address), and return addresses of leaves that have pushed nothing.
extension Unwinder {
    /// Leaves a leaf that no tables cover. If it has pushed nothing, its return address is on top
    /// of the stack: an address right after a call.
    func leaveBareLeaf(_ walk: inout Walk, _ memory: StackMemory) -> Bool {
        guard walk.count == 1, let caller = memory.word(at: walk.stackPointer),
            let index = space.rangeIndex(around: caller),
            space.ranges[index].tables?.isBehindCall(caller &- space.ranges[index].bias) == true
        else { return false }
        walk.stackPointer &+= 8
        walk.move(toReturnAddress: caller)
        walk.hasGuessed = true
        return true
    }

    /// True if tables led to a return address that no call has pushed, in code without tables. This
    /// is the bottom of a stack that the program itself has made (makecontext(3), Boost.Context).
    /// Its first function is entered by a jump, and returns into code that ends the thread or goes
    /// on elsewhere.
    func isMadeByHand(_ walk: Walk) -> Bool {
        guard walk.isAtCaller, !walk.hasGuessed,
            let index = space.rangeIndex(around: walk.programCounter),
            let tables = space.ranges[index].tables
        else { return false }
        return tables.isBehindOtherCode(walk.programCounter &- space.ranges[index].bias)
    }

    /// Follows the frame record at the frame pointer, if there is one. nil: the walk continues at
    /// the caller.
    func followFrameRecord(_ walk: inout Walk, _ memory: StackMemory) -> WalkEnd? {
        guard walk.hasFramePointer else { return .truncated(.unknownRegister) }
        let pointer = walk.framePointer
        // The psABI marks the outermost frame by a zero.
        if pointer == 0 { return .complete }
        guard let record = frameRecord(at: pointer, above: walk.stackPointer, memory) else {
            return crossUnknownCode(&walk, memory) ? nil : .truncated(.noRule)
        }
        // Our own code is entered by a jump from functions that have tables.
        let isOurs = space.hasOwnCode && space.isOwnCode(walk.programCounter)
        if !isOurs, isRecordOfCaller(record.caller) { return .truncated(.noRule) }
        walk.setFramePointer(record.framePointer)
        walk.stackPointer = pointer &+ 16
        walk.move(toReturnAddress: record.caller)
        walk.hasGuessed = true
        if space.hasOwnCode, space.isOwnCode(record.caller) { leaveMark(&walk, memory) }
        return record.caller == 0 ? .complete : nil
    }

    /// True if code without tables has made no frame record, so that the frame pointer leads to its
    /// caller's record: the return address there is behind a call of a function with tables.
    private func isRecordOfCaller(_ returnAddress: UInt64) -> Bool {
        guard returnAddress != 0, let index = space.rangeIndex(around: returnAddress) else {
            return false
        }
        let range = space.ranges[index]
        return range.tables?.isBehindCallOfKnown(returnAddress &- range.bias) == true
    }

    /// How many frames of unknown code may follow each other.
    private static let unknownLimit = 64

    /// A JIT compiler may have mapped code a moment ago that we do not know yet. Frame records that
    /// return into such code are real if they lead on to known code. The frames between are written
    /// as frames of code without a file.
    ///
    /// - Returns: true if the walk continues, at the caller in known code.
    private func crossUnknownCode(_ walk: inout Walk, _ memory: StackMemory) -> Bool {
        let start = walk
        for _ in 0..<Self.unknownLimit where walk.count < Walk.frameLimit {
            let pointer = walk.framePointer
            guard pointer & 7 == 0, pointer >= walk.stackPointer,
                let saved = memory.word(at: pointer), let caller = memory.word(at: pointer &+ 8),
                memory.word(at: caller) == nil, !CodeAddress.isKernel(caller)
            else { break }
            walk.setFramePointer(saved)
            walk.stackPointer = pointer &+ 16
            walk.move(toReturnAddress: caller)
            if space.isCode(caller) { return true }
            walk.append(module: -1, bias: 0)
        }
        walk = start
        return false
    }

    /// A mark's trampoline has pushed the address of the instruction that it replaces; the red zone
    /// is above it.
    private func leaveMark(_ walk: inout Walk, _ memory: StackMemory) {
        guard let sign = memory.word(at: walk.stackPointer),
            MarkFrame.isSign(sign),
            let position = memory.word(at: walk.stackPointer &+ 8)
        else { return }
        walk.stackPointer &+= MarkFrame.size
        walk.move(toInstruction: position)
    }

    /// A frame record that could be real: aligned, inside the stack, and returning into code.
    private func frameRecord(
        at pointer: UInt64, above stackPointer: UInt64, _ memory: StackMemory
    ) -> (framePointer: UInt64, caller: UInt64)? {
        guard pointer & 7 == 0, pointer >= stackPointer, let saved = memory.word(at: pointer),
            let caller = memory.word(at: pointer &+ 8), caller == 0 || space.isCode(caller)
        else { return nil }
        return (saved, caller)
    }

    /// How far to look, in words, and how many candidates to try at most.
    private static let guessDistance = 2048
    private static let guessLimit = 64

    /// The frame pointer of a thread that was not stopped is unknown; its frame record is somewhere
    /// above the stack pointer. A candidate counts only if the walk from it reaches the thread's
    /// entry function.
    func guessFramePointer(_ walk: inout Walk, _ memory: StackMemory) -> WalkEnd {
        guard walk.count > 0 else { return .truncated(.unknownRegister) }
        // The frame that needs the frame pointer: a trial overwrites this frame and the later ones.
        let asking = walk.frames[walk.count &- 1]
        var start = walk
        start.count &-= 1
        var candidate = (walk.stackPointer &+ 7) & ~7
        var trials = 0
        for _ in 0..<Self.guessDistance where candidate < memory.end && trials < Self.guessLimit {
            if let record = frameRecord(at: candidate, above: walk.stackPointer, memory),
                record.framePointer == 0 || record.framePointer > candidate
            {
                trials += 1
                var trial = start
                trial.setFramePointer(candidate)
                trial.hasGuessed = true
                if case .complete = quickWalk(&trial, memory, mayGuess: false) {
                    walk = trial
                    return .complete
                }
            }
            candidate &+= 8
        }
        walk.frames[walk.count &- 1] = asking
        return .truncated(.unknownRegister)
    }
}
