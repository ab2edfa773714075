/// One instruction, as far as it must be known to be moved to another place.
struct Instruction: Hashable {
    enum Kind: Hashable {
        case ordinary
        /// Does nothing.
        case padding
        case jump(to: UInt64)
        case branch(to: UInt64)
        case call(of: UInt64)
        case indirectJump
        case indirectCall
        case `return`
        /// Means something else, or to somebody else, at another place.
        case unmovable
    }

    /// What it finds relative to its own place, and where in its bytes the distance is.
    struct Reference: Hashable {
        var location: UInt64
        var offset: Int
    }

    var address: UInt64
    var bytes: [UInt8]
    var kind: Kind
    var reference: Reference?
    /// Where in its bytes the operand is described; 0: nowhere.
    var operandOffset = 0
    /// Addresses that it loads or indexes: of a table, perhaps.
    var table: UInt64?
    var isSum = false
    var isIndexed = false
    var usesStackPointer = false

    var end: UInt64 { address &+ UInt64(bytes.count) }

    /// Where else than behind it the program may go on by it, as far as it says.
    var destination: UInt64? {
        switch kind {
        case .jump(let target), .branch(let target): target
        default: nil
        }
    }

    /// Whether compilers fill the room between functions with it.
    var isFiller: Bool { kind == .padding || bytes == [0xCC] }

    /// A mark for indirect branches' targets.
    var isLandingMark: Bool { bytes == [0xF3, 0x0F, 0x1E, 0xFA] }

    /// Whether what is behind it is not reached by it.
    var endsFlow: Bool {
        switch kind {
        case .jump, .indirectJump, .return: true
        default: false
        }
    }

    /// The same where its image lies so much higher.
    func moved(by bias: UInt64) -> Instruction {
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
