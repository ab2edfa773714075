import Architecture
import ProfileModel

/// The quick walk: three registers, and compact rules cached by address. It serves nearly every
/// stack.
extension Unwinder {
    /// - Parameter mayGuess: true if an unknown frame pointer may be searched for on the stack.
    func quickWalk(_ walk: inout Walk, _ memory: StackMemory, mayGuess: Bool) -> WalkEnd {
        let mayGuess = mayGuess && !walk.hasFramePointer
        while true {
            switch followRules(&walk, memory) {
            case .end(let end):
                return end
            case .unmappedCaller:
                if let end = crossUretprobe(&walk, memory) { return end }
            case .needsFramePointer:
                return mayGuess
                    ? guessFramePointer(&walk, memory) : .truncated(.unknownRegister)
            case .other(let kind):
                if case .frameRecord = kind, isMadeByHand(walk) { return .complete }
                if case .frameRecord = kind, mayGuess, !walk.hasFramePointer {
                    if leaveTrampoline(&walk, memory) || leaveBareLeaf(&walk, memory) { continue }
                    return guessFramePointer(&walk, memory)
                }
                if let end = leave(&walk, by: kind, memory) { return end }
            }
        }
    }

    /// Why the inner loop stopped. It has written the frame itself.
    private enum Pause {
        case end(WalkEnd)
        /// The caller's frame was not written.
        case unmappedCaller
        case needsFramePointer
        /// A compact rule cannot leave the frame.
        case other(UnwindRule.Kind)
    }

    /// The distance above the stack pointer up to which memory is prefetched, in bytes.
    private static let lookAhead: UInt64 = 512

    /// The inner loop: from frame to frame by compact rules. It neither allocates nor counts
    /// references; rare cases have functions of their own.
    private func followRules(_ walk: inout Walk, _ memory: StackMemory) -> Pause {
        // A local copy stays in the processor's registers.
        var local = walk
        let first = local.count
        var misses = 0
        let pause = followRules(&local, memory, &misses)
        cache.count(lookups: local.count &- first, misses: misses)
        walk = local
        return pause
    }

    @inline(__always)
    private func followRules(
        _ walk: inout Walk, _ memory: StackMemory, _ misses: inout Int
    ) -> Pause {
        var fetched = memory.prefetch(
            from: walk.stackPointer, to: walk.stackPointer &+ Self.lookAhead)
        while walk.count < Walk.frameLimit {
            let address = walk.lookup
            let entry = cache.slot(of: address)
            if entry.pointee.address != address {
                misses &+= 1
                entry.pointee = makeEntry(for: address)
            }
            let rule = entry.pointee.rule
            if rule.kind == .unmapped {
                // Code that is mapped here later must not find this entry.
                entry.pointee = RuleCache.nothing
                if walk.count > 0 { return .unmappedCaller }
            }
            walk.append(module: entry.pointee.module, bias: entry.pointee.bias)
            let offset = UInt64(bitPattern: Int64(rule.cfaOffset))
            let frame: UInt64
            var base: UInt64
            switch rule.kind {
            case .fromStackPointer:
                frame = walk.stackPointer &+ offset
                base = frame
            case .fromFramePointer:
                guard walk.hasFramePointer else { return .needsFramePointer }
                frame = walk.framePointer &+ offset
                base = frame
            case .fromSavedAddress:
                guard walk.hasFramePointer else { return .needsFramePointer }
                base = walk.framePointer
                guard let saved = memory.word(at: base &+ offset) else {
                    return .end(.truncated(.stackLimit))
                }
                frame = saved
            default:
                return .other(rule.kind)
            }
            guard frame > walk.stackPointer else { return .end(.truncated(.noProgress)) }
            fetched = memory.prefetch(from: fetched, to: frame &+ Self.lookAhead)
            guard let caller = memory.word(at: frame &- 8) else {
                return .end(.truncated(.stackLimit))
            }
            if rule.framePointerOffset != UnwindRule.unchanged {
                base &+= UInt64(bitPattern: Int64(rule.framePointerOffset))
                walk.restoreFramePointer(memory.word(at: base), from: base)
            }
            walk.stackPointer = frame
            walk.move(toReturnAddress: caller)
            if caller == 0 { return .end(.complete) }
        }
        return .end(.truncated(.frameLimit))
    }

    /// Leaves a frame in a way that the tables do not describe. nil: the walk continues.
    private func leave(
        _ walk: inout Walk, by kind: UnwindRule.Kind, _ memory: StackMemory
    ) -> WalkEnd? {
        switch kind {
        case .end:
            return .complete
        case .frameRecord:
            return leaveTrampoline(&walk, memory) || leaveBareLeaf(&walk, memory)
                ? nil : followFrameRecord(&walk, memory)
        case .afterSystemCall:
            return leaveSystemCall(&walk, memory)
        case .fromSavedStackPointer:
            return leaveSwitchedStack(&walk, memory)
        case .signalReturn:
            return leaveSignalHandler(&walk, memory)
        case .beginning:
            return leaveBeginning(&walk, memory)
        case .unmapped:
            return leaveUnmappedLeaf(&walk, memory)
        case .general, .fromStackPointer, .fromFramePointer, .fromSavedAddress:
            return .needsTables
        }
    }

    /// Leaves a function whose first address was pushed.
    private func leaveBeginning(_ walk: inout Walk, _ memory: StackMemory) -> WalkEnd? {
        guard let caller = memory.word(at: walk.stackPointer) else {
            return .truncated(.stackLimit)
        }
        walk.lastIsNoCall()
        walk.stackPointer &+= 8
        walk.move(toReturnAddress: caller)
        return caller == 0 ? .complete : nil
    }

    /// Leaves a function of Go's runtime that has aligned the stack for C.
    private func leaveSwitchedStack(_ walk: inout Walk, _ memory: StackMemory) -> WalkEnd? {
        let offset = UInt64(bitPattern: Int64(makeEntry(for: walk.lookup).rule.cfaOffset))
        guard let saved = memory.word(at: walk.stackPointer &+ offset) else {
            return .truncated(.stackLimit)
        }
        guard saved > walk.stackPointer else { return .truncated(.noProgress) }
        guard let caller = memory.word(at: saved) else { return .truncated(.stackLimit) }
        walk.stackPointer = saved &+ 8
        walk.move(toReturnAddress: caller)
        return caller == 0 ? .complete : nil
    }

    /// Leaves a call through a wild or null pointer: the return address is on top of the stack.
    private func leaveUnmappedLeaf(_ walk: inout Walk, _ memory: StackMemory) -> WalkEnd? {
        guard let caller = memory.word(at: walk.stackPointer), space.isCode(caller) else {
            walk.count = 0
            return .truncated(.unmappedCode)
        }
        walk.stackPointer &+= 8
        walk.move(toReturnAddress: caller)
        return nil
    }

    private func leaveSignalHandler(_ walk: inout Walk, _ memory: StackMemory) -> WalkEnd? {
        guard let interrupted = SignalReturn.registers(at: walk.stackPointer, memory) else {
            return .truncated(.stackLimit)
        }
        walk.lastIsNoCall()
        walk.stackPointer = interrupted.stackPointer
        walk.setFramePointer(interrupted.framePointer)
        walk.move(toInstruction: interrupted.programCounter)
        return interrupted.programCounter == 0 ? .complete : nil
    }

    /// After a `syscall` that no tables cover: either the call has returned, and its caller's
    /// address is on top of the stack, or this is the very beginning of a thread.
    private func leaveSystemCall(_ walk: inout Walk, _ memory: StackMemory) -> WalkEnd? {
        guard walk.count == 1 else { return .truncated(.noRule) }
        if walk.isNewThread { return .complete }
        return leaveBareLeaf(&walk, memory) ? nil : followFrameRecord(&walk, memory)
    }
}
