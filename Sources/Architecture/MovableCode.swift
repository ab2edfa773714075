/// Code whose place is not known yet. Its length does not depend on the place; only distances of
/// four bytes in it do.
package struct MovableCode: Hashable, Sendable {
    /// The target of a distance.
    package enum Target: Hashable, Sendable {
        case address(UInt64)
        /// A word that holds the address of the code that records hits.
        case routine
    }

    private struct Distance: Hashable {
        /// Where the bytes of the distance are.
        var offset: Int
        /// Where the distance is counted from: the end of its instruction.
        var end: Int
        var target: Target
    }

    private var fixed: [UInt8]
    private var distances: [Distance] = []

    package init(_ bytes: [UInt8] = []) { fixed = bytes }

    /// One instruction.
    ///
    /// - Parameter offset: where in its bytes the distance is.
    package init(_ instruction: [UInt8], distanceAt offset: Int, to target: Target) {
        fixed = instruction
        distances = [Distance(offset: offset, end: instruction.count, target: target)]
    }

    /// An instruction that ends with its distance.
    package init(_ opcode: [UInt8], to target: Target) {
        self.init(opcode + [0, 0, 0, 0], distanceAt: opcode.count, to: target)
    }

    package static func jump(to target: UInt64) -> MovableCode {
        MovableCode([CodeBytes.jump], to: .address(target))
    }

    @inlinable package static var jumpLength: Int { JumpPatch.length }

    /// `push $low; movl $high, 4(%rsp)`: changes no register and no flag.
    static func push(_ address: UInt64) -> MovableCode {
        MovableCode(
            [CodeBytes.push] + UInt32(truncatingIfNeeded: address).codeBytes
                + [0xC7, 0x44, 0x24, 0x04] + UInt32(truncatingIfNeeded: address >> 32).codeBytes)
    }

    package var count: Int { fixed.count }

    package static func + (first: MovableCode, second: MovableCode) -> MovableCode {
        var both = first
        both.fixed += second.fixed
        both.distances += second.distances.map {
            Distance(
                offset: $0.offset + first.count, end: $0.end + first.count, target: $0.target)
        }
        return both
    }

    package static func += (first: inout MovableCode, second: MovableCode) {
        first = first + second
    }

    /// The code for a place; nil if a target is too far away.
    package func bytes(at place: UInt64, routine: UInt64 = 0) -> [UInt8]? {
        var bytes = fixed
        for distance in distances {
            let target: UInt64
            switch distance.target {
            case .address(let address): target = address
            case .routine: target = routine
            }
            let start = place &+ UInt64(distance.end)
            let field = distance.offset..<(distance.offset + 4)
            guard field.upperBound <= bytes.count,
                let short = Int32(exactly: Int64(bitPattern: target &- start))
            else { return nil }
            bytes.replaceSubrange(
                field, with: (0..<4).map { UInt8(truncatingIfNeeded: short >> (8 * $0)) })
        }
        return bytes
    }
}
