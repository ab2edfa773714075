extension Instruction {
    /// Code that has the same effect at another place; nil: it cannot be moved.
    package var movableCode: MovableCode? {
        switch kind {
        case .ordinary, .indirectJump, .return:
            return moved(bytes)
        case .padding:
            return MovableCode()
        case .jump(let target):
            return .jump(to: target)
        case .branch(let target):
            return condition.map {
                MovableCode([0x0F, 0x80 | $0], to: .address(target))
            }
        case .call(let target):
            return .push(end) + .jump(to: target)
        case .indirectCall:
            return movableIndirectCall
        case .unmovable:
            return nil
        }
    }

    /// The code with references to the same addresses as before.
    private func moved(_ code: [UInt8]) -> MovableCode? {
        guard let reference else { return MovableCode(code) }
        guard reference.offset + 4 <= code.count else { return nil }
        return MovableCode(
            code, distanceAt: reference.offset, to: .address(reference.location))
    }

    /// The low four bits of the condition's code, for a branch without prefixes.
    private var condition: UInt8? {
        switch bytes.count {
        case 2 where bytes[0] & 0xF0 == 0x70: bytes[0] & 0x0F
        case 6 where bytes[0] == 0x0F && bytes[1] & 0xF0 == 0x80: bytes[1] & 0x0F
        default: nil
        }
    }

    /// Unwinding must find the original return address, and no address of ours. So the original
    /// address is pushed, and the call becomes a jump.
    private var movableIndirectCall: MovableCode? {
        let offset = operandOffset
        // FF /2 is a call, FF /4 a jump. The push would shift an operand on the stack.
        guard !usesStackPointer, offset > 0, offset < bytes.count, bytes[offset - 1] == 0xFF,
            bytes[offset] & 0x38 == 0x10
        else { return nil }
        var jump = bytes
        jump[offset] = jump[offset] & ~0x38 | 0x20
        return moved(jump).map { .push(end) + $0 }
    }
}
