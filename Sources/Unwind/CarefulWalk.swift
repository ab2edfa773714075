import Architecture
import ProfileModel

/// The careful walk: all registers, and everything in the modules' tables.
extension Unwinder {
    func carefulWalk(
        _ walk: inout Walk, _ start: Registers, _ memory: StackMemory
    ) -> WalkEnd {
        var registers = start
        while walk.count < Walk.frameLimit {
            let address = walk.lookup
            guard let index = space.rangeIndex(around: address) else {
                if walk.count > 0 {
                    walk.stackPointer = registers.stackPointer
                    walk.setFramePointer(registers.framePointer)
                    if let end = crossUretprobe(&walk, memory) { return end }
                    registers = walk.registers
                    continue
                }
                guard walk.count == 0,
                    let caller = memory.word(at: registers.stackPointer), space.isCode(caller)
                else { return .truncated(.unmappedCode) }
                walk.append(module: -1, bias: 0)
                walk.move(toReturnAddress: caller)
                registers[Registers.stackPointer] = registers.stackPointer &+ 8
                registers[Registers.programCounter] = caller
                continue
            }
            let range = space.ranges[index]
            walk.append(module: range.moduleNumber, bias: range.bias)
            switch step(at: address, in: range, registers, memory) {
            case .caller(let caller, let isSignalFrame):
                guard isOutwards(from: registers, to: caller, isSignalFrame, walk) else {
                    return .truncated(.noProgress)
                }
                if caller.programCounter == 0 { return .complete }
                registers = caller
                if isSignalFrame {
                    walk.lastIsNoCall()
                    walk.move(toInstruction: caller.programCounter)
                } else {
                    walk.move(toReturnAddress: caller.programCounter)
                }
            case .end:
                return .complete
            case .failed(let reason):
                return .truncated(reason)
            case .frameRecord:
                if isMadeByHand(walk) { return .complete }
                walk.stackPointer = registers.stackPointer
                walk.setFramePointer(registers.framePointer)
                if leaveTrampoline(&walk, memory) || leaveBareLeaf(&walk, memory) {
                    registers[Registers.framePointer] =
                        walk.hasFramePointer ? walk.framePointer : nil
                    registers[Registers.stackPointer] = walk.stackPointer
                    registers[Registers.programCounter] = walk.programCounter
                    continue
                }
                if let end = followFrameRecord(&walk, memory) { return end }
                registers = walk.registers
            }
        }
        return .truncated(.frameLimit)
    }

    /// True if the step leads outwards. Only a signal frame may lead to another stack. Only a leaf
    /// may have nothing on the stack (vfork keeps its return address in a register).
    private func isOutwards(
        from callee: Registers, to caller: Registers, _ isSignalFrame: Bool, _ walk: Walk
    ) -> Bool {
        isSignalFrame || caller.stackPointer > callee.stackPointer
            || (walk.count == 1 && caller.stackPointer == callee.stackPointer)
    }

    private func step(
        at address: UInt64, in range: AddressSpace.Range, _ registers: Registers,
        _ memory: StackMemory
    ) -> GeneralStep {
        let rule = rule(at: address, in: range)
        switch rule.kind {
        case .end:
            return .end
        case .signalReturn:
            guard let caller = SignalReturn.registers(at: registers.stackPointer, memory) else {
                return .failed(.stackLimit)
            }
            return .caller(caller, isSignalFrame: true)
        case .beginning:
            guard let address = memory.word(at: registers.stackPointer) else {
                return .failed(.stackLimit)
            }
            let pointer = registers.stackPointer &+ 8
            var caller = registers
            caller[Registers.stackPointer] = pointer
            caller[Registers.programCounter] = address
            return .caller(caller, isSignalFrame: false)
        case .frameRecord, .afterSystemCall:
            return .frameRecord
        case .fromSavedStackPointer:
            return step(bySavedStackPointer: rule, registers, memory)
        default:
            return range.tables?.step(
                at: address &- range.bias, registers: registers, memory: memory)
                ?? step(by: rule, registers, memory)
        }
    }

    private func step(
        bySavedStackPointer rule: UnwindRule, _ registers: Registers, _ memory: StackMemory
    ) -> GeneralStep {
        let place = registers.stackPointer &+ UInt64(bitPattern: Int64(rule.cfaOffset))
        guard let saved = memory.word(at: place), let address = memory.word(at: saved) else {
            return .failed(.stackLimit)
        }
        var caller = registers
        caller[Registers.stackPointer] = saved &+ 8
        caller[Registers.programCounter] = address
        return .caller(caller, isSignalFrame: false)
    }

    /// Rules that come from no unwind table: for Go's functions and for `_init`.
    private func step(
        by rule: UnwindRule, _ registers: Registers, _ memory: StackMemory
    ) -> GeneralStep {
        guard rule.kind == .fromStackPointer else { return .frameRecord }
        let frame = registers.stackPointer &+ UInt64(bitPattern: Int64(rule.cfaOffset))
        guard let address = memory.word(at: frame &- 8) else { return .failed(.stackLimit) }
        var caller = Registers(programCounter: address, stackPointer: frame)
        caller[Registers.framePointer] =
            rule.framePointerOffset == UnwindRule.unchanged
            ? registers.framePointer
            : memory.word(at: frame &+ UInt64(bitPattern: Int64(rule.framePointerOffset)))
        return .caller(caller, isSignalFrame: false)
    }
}
