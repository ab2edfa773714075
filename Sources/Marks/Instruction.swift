/// One instruction, with what must be known to move it elsewhere.
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
        /// Elsewhere it would mean something else, or others rely on its place.
        case unmovable
    }

    /// An address relative to the instruction's own, and where in its bytes the distance is.
    struct Reference: Hashable {
        var location: UInt64
        var offset: Int
    }

    var address: UInt64
    var bytes: [UInt8]
    var kind: Kind
    var reference: Reference?
    /// The offset of the operand's description in its bytes; 0: none.
    var operandOffset = 0
    /// An address that it loads or indexes: perhaps a table.
    var table: UInt64?
    var isSum = false
    var isIndexed = false
    var usesStackPointer = false

    var end: UInt64 { address &+ UInt64(bytes.count) }

    /// Where the program may continue other than after it, if the instruction tells.
    var destination: UInt64? {
        switch kind {
        case .jump(let target), .branch(let target): target
        default: nil
        }
    }

    /// True if compilers fill the space between functions with it.
    var isFiller: Bool { kind == .padding || bytes == [0xCC] }

    /// True if it marks the target of indirect branches.
    var isLandingMark: Bool { bytes == [0xF3, 0x0F, 0x1E, 0xFA] }

    /// True if the program never continues after it.
    var endsFlow: Bool {
        switch kind {
        case .jump, .indirectJump, .return: true
        default: false
        }
    }

    /// The same instruction in an image that is loaded higher by `bias`.
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
