internal import ProfileModel

/// Rewrites an instruction for another place, so that it has the same effect there.
enum Relocation {
    /// nil: it cannot be moved.
    static func code(of instruction: Instruction) -> MovableCode? {
        switch instruction.kind {
        case .ordinary, .indirectJump, .return:
            return moved(instruction.bytes, instruction)
        case .padding:
            return MovableCode()
        case .jump(let target):
            return .jump(to: target)
        case .branch(let target):
            return condition(of: instruction.bytes).map {
                MovableCode([0x0F, 0x80 | $0], to: .address(target))
            }
        case .call(let target):
            return push(instruction.end) + .jump(to: target)
        case .indirectCall:
            return indirectCall(instruction)
        case .unmovable:
            return nil
        }
    }

    static func bytes<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        (0..<MemoryLayout<Value>.size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// With references to the same addresses as before.
    private static func moved(_ code: [UInt8], _ instruction: Instruction) -> MovableCode? {
        guard let reference = instruction.reference else { return MovableCode(code) }
        guard reference.offset + 4 <= code.count else { return nil }
        return MovableCode(
            code, distanceAt: reference.offset, to: .address(reference.location))
    }

    /// The low four bits of the condition's code, for a branch without prefixes.
    private static func condition(of code: [UInt8]) -> UInt8? {
        switch code.count {
        case 2 where code[0] & 0xF0 == 0x70: code[0] & 0x0F
        case 6 where code[0] == 0x0F && code[1] & 0xF0 == 0x80: code[1] & 0x0F
        default: nil
        }
    }

    /// Unwinding must find the original return address, and nothing of ours. So that address is
    /// pushed, and the call becomes a jump.
    private static func indirectCall(_ instruction: Instruction) -> MovableCode? {
        let offset = instruction.operandOffset
        // FF /2 is a call, FF /4 a jump. The push would shift an operand on the stack.
        guard !instruction.usesStackPointer, offset > 0, offset < instruction.bytes.count,
            instruction.bytes[offset - 1] == 0xFF, instruction.bytes[offset] & 0x38 == 0x10
        else { return nil }
        var jump = instruction.bytes
        jump[offset] = jump[offset] & ~0x38 | 0x20
        return moved(jump, instruction).map { push(instruction.end) + $0 }
    }

    /// `push $low; movl $high, 4(%rsp)`: changes no register and no flag.
    static func push(_ address: UInt64) -> MovableCode {
        MovableCode(
            [0x68] + bytes(UInt32(truncatingIfNeeded: address))
                + [0xC7, 0x44, 0x24, 0x04] + bytes(UInt32(truncatingIfNeeded: address >> 32)))
    }
}
