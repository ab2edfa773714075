package import ProfileModel

/// A stack, unwound: as much of it as could be had.
package struct Callstack: Sendable {
    /// Innermost first.
    package var frames: [FrameAddress]
    /// nil when the last frame is the thread's entry function.
    package var truncation: Truncation?
}

/// Unwinds snapshots, from the registers, the copied stack, and the modules' tables alone.
///
/// Two walks over the same tables. The quick one knows three registers and compact rules cached
/// by address; it serves nearly every stack. Where a frame needs more (DWARF expressions, signal
/// frames, a realigned stack), the careful walk starts again at the leaf with all registers.
package final class Unwinder {
    private static let frameLimit = 4096

    private var space = AddressSpace()
    private var cache = RuleCache()

    package init() {}

    /// All modules seen so far; frames name them by position.
    package var modules: [Module] { space.modules }

    /// How many addresses' rules were found in the cache, and how many had to be made.
    package var cacheFigures: (hits: Int, misses: Int) { (cache.hits, cache.misses) }

    /// Takes the process's new list of code mappings; see `AddressSpace.update`.
    package func update(
        _ code: [CodeMapping], at time: MonotonicTime,
        openAlternative: (CodeMapping) -> [String] = { _ in [] }
    ) -> [Mapping] {
        cache.removeAll()
        return space.update(code, at: time, openAlternative: openAlternative)
    }

    package func unwind(_ snapshot: Snapshot) -> Callstack {
        var callstack = walk(snapshot)
        if space.hasOwnCode {
            callstack.frames.removeAll { $0.module == nil && space.isOwnCode($0.address.value) }
        }
        return callstack
    }

    private func walk(_ snapshot: Snapshot) -> Callstack {
        let memory = StackMemory(snapshot)
        var walk = Walk(snapshot.registers)
        let end = quickWalk(&walk, memory, mayGuess: true)
        guard case .needsTables = end else { return walk.callstack(end, memory) }
        var careful = Walk(snapshot.registers)
        let carefulEnd = carefulWalk(&careful, snapshot.registers, memory)
        return careful.callstack(carefulEnd, memory)
    }

    /// The frame of an instruction of the process; nil where no code is mapped.
    package func frame(ofInstruction address: UInt64) -> FrameAddress? {
        guard let index = space.rangeIndex(around: address) else { return nil }
        let range = space.ranges[index]
        return FrameAddress(
            module: range.module, address: CodeAddress(address &- range.bias, .instruction))
    }

    // MARK: The quick walk

    /// A walk's position: where the next frame is, and the frames so far.
    private struct Walk {
        var frames: [FrameAddress] = []
        var position: CodeAddress
        var stackPointer: UInt64
        var framePointer: UInt64?
        /// The leaf's result register says what clone(2) returns to the new thread.
        let isNewThread: Bool

        init(_ registers: Registers) {
            isNewThread = registers[Registers.result] == 0
            frames.reserveCapacity(64)
            position = CodeAddress(registers.programCounter, .instruction)
            stackPointer = registers.stackPointer
            framePointer = registers.framePointer
        }

        func callstack(_ end: WalkEnd, _ memory: StackMemory) -> Callstack {
            switch end {
            case .complete: Callstack(frames: frames, truncation: nil)
            case .needsTables: Callstack(frames: frames, truncation: .noRule)
            case .truncated(let reason): Callstack(frames: frames, truncation: reason)
            }
        }
    }

    private enum WalkEnd {
        case complete
        /// The quick walk met a frame that only the full tables explain.
        case needsTables
        case truncated(Truncation)
    }

    private func entry(for position: CodeAddress) -> CachedRule {
        let space = space
        return cache.entry(for: position.lookup) { address in
            guard let index = space.rangeIndex(around: address) else {
                return CachedRule(
                    address: address, bias: 0, module: -1, rule: UnwindRule(.unmapped))
            }
            let range = space.ranges[index]
            return CachedRule(
                address: address, bias: range.bias, module: Int32(range.module?.rawValue ?? -1),
                rule: rule(at: address, in: range))
        }
    }

    private func rule(at address: UInt64, in range: AddressSpace.Range) -> UnwindRule {
        range.tables?.rule(at: address &- range.bias) ?? UnwindRule(.frameRecord)
    }

    private func frame(_ position: CodeAddress, _ entry: CachedRule) -> FrameAddress {
        FrameAddress(
            module: entry.module < 0 ? nil : ModuleIndex(Int(entry.module)),
            address: CodeAddress(position.value &- entry.bias, position.kind))
    }

    /// - Parameter mayGuess: whether an unknown frame pointer may be looked for on the stack.
    private func quickWalk(_ walk: inout Walk, _ memory: StackMemory, mayGuess: Bool) -> WalkEnd {
        let mayGuess = mayGuess && walk.framePointer == nil
        while walk.frames.count < Self.frameLimit {
            let entry = entry(for: walk.position)
            if entry.rule.kind == .unmapped {
                return walk.frames.isEmpty ? unmappedLeaf(&walk, memory) : .truncated(.unmappedCode)
            }
            walk.frames.append(frame(walk.position, entry))
            let base: UInt64
            switch entry.rule.kind {
            case .fromStackPointer:
                base = walk.stackPointer
            case .fromFramePointer:
                guard let known = walk.framePointer else {
                    return mayGuess
                        ? guessFramePointer(&walk, memory) : .truncated(.unknownRegister)
                }
                base = known
            case .frameRecord:
                if leaveBareLeaf(&walk, memory) { continue }
                if walk.framePointer == nil, mayGuess { return guessFramePointer(&walk, memory) }
                if let end = followFrameRecord(&walk, memory) { return end }
                continue
            case .afterSystemCall:
                if let end = leaveSystemCall(&walk, memory) { return end }
                continue
            case .end: return .complete
            case .general, .signalReturn: return .needsTables
            case .unmapped: return .truncated(.unmappedCode)
            }
            let cfa = base &+ UInt64(bitPattern: Int64(entry.rule.cfaOffset))
            if let end = leave(&walk, cfa: cfa, entry.rule, memory) { return end }
        }
        return .truncated(.frameLimit)
    }

    /// Moves to the caller by a compact rule; an end where that is not possible.
    private func leave(
        _ walk: inout Walk, cfa: UInt64, _ rule: UnwindRule, _ memory: StackMemory
    ) -> WalkEnd? {
        guard cfa > walk.stackPointer else { return .truncated(.noProgress) }
        guard let caller = memory.word(at: cfa &- 8) else { return .truncated(.stackLimit) }
        if rule.framePointerOffset != UnwindRule.unchanged {
            let slot = cfa &+ UInt64(bitPattern: Int64(rule.framePointerOffset))
            walk.framePointer = memory.word(at: slot)
        }
        walk.stackPointer = cfa
        walk.position = CodeAddress(caller, .returnAddress)
        return caller == 0 ? .complete : nil
    }

    /// A call through a wild or null pointer: the return address lies where it was pushed.
    private func unmappedLeaf(_ walk: inout Walk, _ memory: StackMemory) -> WalkEnd {
        guard let caller = memory.word(at: walk.stackPointer), space.isCode(caller) else {
            return .truncated(.unmappedCode)
        }
        walk.frames.append(FrameAddress(module: nil, address: walk.position))
        walk.stackPointer &+= 8
        walk.position = CodeAddress(caller, .returnAddress)
        return quickWalk(&walk, memory, mayGuess: true)
    }

    /// Behind a `syscall` that no tables cover: either the call returned to its caller, whose
    /// address is on top of the stack, or this is a thread's very beginning.
    private func leaveSystemCall(_ walk: inout Walk, _ memory: StackMemory) -> WalkEnd? {
        guard walk.frames.count == 1 else { return .truncated(.noRule) }
        if walk.isNewThread { return .complete }
        return leaveBareLeaf(&walk, memory) ? nil : followFrameRecord(&walk, memory)
    }

    /// A leaf that no tables cover and that has pushed nothing has its return address on top of
    /// the stack: an address of code right behind a call.
    private func leaveBareLeaf(_ walk: inout Walk, _ memory: StackMemory) -> Bool {
        guard walk.frames.count == 1, let caller = memory.word(at: walk.stackPointer),
            let index = space.rangeIndex(around: caller),
            space.ranges[index].tables?.isBehindCall(caller &- space.ranges[index].bias) == true
        else { return false }
        walk.stackPointer &+= 8
        walk.position = CodeAddress(caller, .returnAddress)
        return true
    }

    // MARK: Frame records

    /// Follows the frame record (saved frame pointer, return address) that the frame pointer
    /// points at, if it is one. nil: the walk goes on at the caller.
    private func followFrameRecord(_ walk: inout Walk, _ memory: StackMemory) -> WalkEnd? {
        guard let pointer = walk.framePointer else { return .truncated(.unknownRegister) }
        // The psABI's mark of the outermost frame.
        if pointer == 0 { return .complete }
        guard let record = frameRecord(at: pointer, above: walk.stackPointer, memory) else {
            return .truncated(.noRule)
        }
        walk.framePointer = record.framePointer
        walk.stackPointer = pointer &+ 16
        walk.position = CodeAddress(record.caller, .returnAddress)
        if space.isOwnCode(record.caller) { leaveMark(&walk, memory) }
        return record.caller == 0 ? .complete : nil
    }

    /// A mark's trampoline has left on the stack which instruction it stands for, and the red zone
    /// above that.
    private func leaveMark(_ walk: inout Walk, _ memory: StackMemory) {
        guard let sign = memory.word(at: walk.stackPointer),
            MarkFrame.isSign(sign),
            let position = memory.word(at: walk.stackPointer &+ 8)
        else { return }
        walk.stackPointer &+= MarkFrame.size
        walk.position = CodeAddress(position, .instruction)
    }

    /// A frame record that could be real: aligned, inside the stack, returning into code, and
    /// with a caller's record further out.
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

    /// The frame pointer of a thread that was not stopped is not known; its frame's record lies
    /// somewhere above the stack pointer. A candidate counts only if the walk from it reaches the
    /// thread's entry function.
    private func guessFramePointer(_ walk: inout Walk, _ memory: StackMemory) -> WalkEnd {
        walk.frames.removeLast()
        var candidate = (walk.stackPointer &+ 7) & ~7
        var trials = 0
        for _ in 0..<Self.guessDistance where candidate < memory.end && trials < Self.guessLimit {
            if let record = frameRecord(at: candidate, above: walk.stackPointer, memory),
                record.framePointer == 0 || record.framePointer > candidate
            {
                trials += 1
                var trial = walk
                trial.framePointer = candidate
                if case .complete = quickWalk(&trial, memory, mayGuess: false) {
                    walk = trial
                    return .complete
                }
            }
            candidate &+= 8
        }
        walk.frames.append(frame(walk.position, entry(for: walk.position)))
        return .truncated(.unknownRegister)
    }

    // MARK: The careful walk

    private func carefulWalk(
        _ walk: inout Walk, _ start: Registers, _ memory: StackMemory
    ) -> WalkEnd {
        var registers = start
        while walk.frames.count < Self.frameLimit {
            let address = walk.position.lookup
            guard let index = space.rangeIndex(around: address) else {
                guard walk.frames.isEmpty,
                    let caller = memory.word(at: registers.stackPointer), space.isCode(caller)
                else { return .truncated(.unmappedCode) }
                walk.frames.append(FrameAddress(module: nil, address: walk.position))
                walk.position = CodeAddress(caller, .returnAddress)
                registers[Registers.stackPointer] = registers.stackPointer &+ 8
                registers[Registers.programCounter] = caller
                continue
            }
            let range = space.ranges[index]
            walk.frames.append(
                FrameAddress(
                    module: range.module,
                    address: CodeAddress(walk.position.value &- range.bias, walk.position.kind)))
            switch step(at: address, in: range, registers, memory) {
            case .caller(let caller, let isSignalFrame):
                guard isOutwards(from: registers, to: caller, isSignalFrame, walk) else {
                    return .truncated(.noProgress)
                }
                if caller.programCounter == 0 { return .complete }
                registers = caller
                walk.position = CodeAddress(
                    caller.programCounter, isSignalFrame ? .instruction : .returnAddress)
            case .end:
                return .complete
            case .failed(let reason):
                return .truncated(reason)
            case .frameRecord:
                walk.stackPointer = registers.stackPointer
                walk.framePointer = registers.framePointer
                if leaveBareLeaf(&walk, memory) {
                    registers[Registers.stackPointer] = walk.stackPointer
                    registers[Registers.programCounter] = walk.position.value
                    continue
                }
                if let end = followFrameRecord(&walk, memory) { return end }
                registers = Registers(
                    programCounter: walk.position.value, stackPointer: walk.stackPointer)
                registers[Registers.framePointer] = walk.framePointer
            }
        }
        return .truncated(.frameLimit)
    }

    /// A signal frame may lead to another stack; all others lead outwards. Only a leaf may have
    /// nothing on the stack (vfork keeps its return address in a register).
    private func isOutwards(
        from callee: Registers, to caller: Registers, _ isSignalFrame: Bool, _ walk: Walk
    ) -> Bool {
        isSignalFrame || caller.stackPointer > callee.stackPointer
            || (walk.frames.count == 1 && caller.stackPointer == callee.stackPointer)
    }

    private func step(
        at address: UInt64, in range: AddressSpace.Range, _ registers: Registers,
        _ memory: StackMemory
    ) -> GeneralStep {
        switch rule(at: address, in: range).kind {
        case .end:
            return .end
        case .signalReturn:
            guard let caller = SignalReturn.registers(at: registers.stackPointer, memory) else {
                return .failed(.stackLimit)
            }
            return .caller(caller, isSignalFrame: true)
        case .frameRecord, .afterSystemCall:
            return .frameRecord
        default:
            return range.tables?.step(
                at: address &- range.bias, registers: registers, memory: memory) ?? .frameRecord
        }
    }
}
