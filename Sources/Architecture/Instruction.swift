/// One instruction, with the facts that are needed to move it elsewhere.
package struct Instruction: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case ordinary
        /// Does nothing.
        case padding
        case jump(to: UInt64)
        case branch(to: UInt64)
        case call(of: UInt64)
        case indirectJump
        case indirectCall
        case `return`
        /// At another place it would have another meaning, or other code relies on its place.
        case unmovable
    }

    /// An address relative to the instruction's own, and where in its bytes the distance is.
    package struct Reference: Hashable, Sendable {
        package var location: UInt64
        package var offset: Int

        package init(location: UInt64, offset: Int) {
            self.location = location
            self.offset = offset
        }
    }

    package var address: UInt64
    package var bytes: [UInt8]
    package var kind: Kind
    package var reference: Reference?
    /// The offset of the operand's description in its bytes; 0: none.
    package var operandOffset = 0
    /// An address that it loads or indexes: perhaps a table.
    package var table: UInt64?
    package var isSum = false
    package var isIndexed = false
    package var usesStackPointer = false

    package init(address: UInt64, bytes: [UInt8], kind: Kind) {
        self.address = address
        self.bytes = bytes
        self.kind = kind
    }

    package var end: UInt64 { address &+ UInt64(bytes.count) }

    /// Another place where the program may continue, if the instruction names it.
    package var destination: UInt64? {
        switch kind {
        case .jump(let target), .branch(let target): target
        default: nil
        }
    }

    /// True if compilers fill the space between functions with it.
    package var isFiller: Bool { kind == .padding || bytes == CodeBytes.trap }

    /// True if it marks the target of indirect branches.
    package var isLandingMark: Bool { bytes == CodeBytes.landingMark }

    /// True if it is the `nop` that compilers put where a probe may be.
    package var isProbeSite: Bool { bytes == CodeBytes.nop }

    package var isSystemCall: Bool { bytes == CodeBytes.systemCall }

    /// True if it loads the number of the system call that follows.
    package var loadsCallNumber: Bool { bytes.first == SystemCallInstruction.load }

    /// True if its operand is in memory, not in a register.
    package var readsMemory: Bool {
        operandOffset > 0 && operandOffset < bytes.count && bytes[operandOffset] & 0xC0 != 0xC0
    }

    /// True if the program never continues after it.
    package var endsFlow: Bool {
        switch kind {
        case .jump, .indirectJump, .return: true
        default: false
        }
    }

    /// The same instruction in an image that is loaded higher by `bias`.
    package func moved(by bias: UInt64) -> Instruction {
        var moved = self
        moved.address &+= bias
        moved.reference?.location &+= bias
        moved.table = table.map { $0 &+ bias }
        switch kind {
        case .jump(let target): moved.kind = .jump(to: target &+ bias)
        case .branch(let target): moved.kind = .branch(to: target &+ bias)
        case .call(let target): moved.kind = .call(of: target &+ bias)
        case .ordinary, .padding, .indirectJump, .indirectCall, .return, .unmovable: break
        }
        return moved
    }
}

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
