/// An instruction, written anew for another place, at which it does what it did at its own.
///
/// As long whatever the place is, so that lengths are known before places are.
enum Relocation {
    /// nil: it cannot be moved there.
    ///
    /// - Parameter place: where its first byte will be.
    static func bytes(of instruction: Instruction, at place: UInt64) -> [UInt8]? {
        switch instruction.kind {
        case .ordinary, .indirectJump, .return:
            return moved(instruction.bytes, instruction, to: place)
        case .padding:
            return []
        case .jump(let target):
            return jump(from: place, to: target)
        case .branch(let target):
            guard let condition = condition(of: instruction.bytes) else { return nil }
            return distance(from: place, length: 6, to: target).map {
                [0x0F, 0x80 | condition] + bytes($0)
            }
        case .call(let target):
            let push = push(instruction.end)
            return jump(from: place &+ UInt64(push.count), to: target).map { push + $0 }
        case .indirectCall:
            return indirectCall(instruction, at: place)
        case .unmovable:
            return nil
        }
    }

    /// `jmp target`; nil when it is too far.
    static func jump(from place: UInt64, to target: UInt64) -> [UInt8]? {
        distance(from: place, length: jumpLength, to: target).map { [0xE9] + bytes($0) }
    }

    static let jumpLength = 5

    /// What a four-byte distance must be, in an instruction of that length.
    static func distance(from place: UInt64, length: Int, to target: UInt64) -> Int32? {
        Int32(exactly: Int64(bitPattern: target &- place &- UInt64(length)))
    }

    static func bytes<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        (0..<MemoryLayout<Value>.size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// With what it finds relative to itself as it was.
    private static func moved(
        _ code: [UInt8], _ instruction: Instruction, to place: UInt64
    ) -> [UInt8]? {
        guard let reference = instruction.reference else { return code }
        let field = reference.offset..<(reference.offset + 4)
        guard field.upperBound <= code.count,
            let distance = distance(from: place, length: code.count, to: reference.location)
        else { return nil }
        var code = code
        code.replaceSubrange(field, with: bytes(distance))
        return code
    }

    /// The low four bits of the condition's code: of a branch without prefixes.
    private static func condition(of code: [UInt8]) -> UInt8? {
        switch code.count {
        case 2 where code[0] & 0xF0 == 0x70: code[0] & 0x0F
        case 6 where code[0] == 0x0F && code[1] & 0xF0 == 0x80: code[1] & 0x0F
        default: nil
        }
    }

    /// Whoever unwinds must find the address behind the call where it was, and nothing of ours: so
    /// that is pushed, and the call becomes a jump.
    private static func indirectCall(_ instruction: Instruction, at place: UInt64) -> [UInt8]? {
        let offset = instruction.operandOffset
        // FF /2 is a call, FF /4 a jump. An operand on the stack moves with the push.
        guard !instruction.usesStackPointer, offset > 0, offset < instruction.bytes.count,
            instruction.bytes[offset - 1] == 0xFF, instruction.bytes[offset] & 0x38 == 0x10
        else { return nil }
        var jump = instruction.bytes
        jump[offset] = jump[offset] & ~0x38 | 0x20
        let push = push(instruction.end)
        return moved(jump, instruction, to: place &+ UInt64(push.count)).map { push + $0 }
    }

    /// `push $low; movl $high, 4(%rsp)`: changes no register and no flag.
    static func push(_ address: UInt64) -> [UInt8] {
        [0x68] + bytes(UInt32(truncatingIfNeeded: address))
            + [0xC7, 0x44, 0x24, 0x04] + bytes(UInt32(truncatingIfNeeded: address >> 32))
    }
}
