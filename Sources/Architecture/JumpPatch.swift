/// A jump that takes the place of the first bytes of a word of code.
package enum JumpPatch {
    /// In bytes.
    @inlinable package static var length: Int { 5 }

    /// The maximum distance of a jump, in bytes.
    @inlinable package static var reach: UInt64 { 1 << 31 }

    /// The jump, as the low bytes of a word; nil if the target is too far away.
    package static func word(from address: UInt64, to target: UInt64) -> UInt64? {
        let distance = Int64(bitPattern: target &- (address &+ UInt64(length)))
        guard let short = Int32(exactly: distance) else { return nil }
        return UInt64(CodeBytes.jump) | UInt64(UInt32(bitPattern: short)) << 8
    }

    /// The part of a word that a jump replaces.
    package static func replaced(of word: UInt64) -> UInt64 { word & mask }

    /// A word with its first bytes replaced.
    ///
    /// - Parameter first: a word that begins with the new bytes.
    package static func word(_ word: UInt64, beginning first: UInt64) -> UInt64 {
        word & ~mask | first & mask
    }

    private static let mask: UInt64 = 0xFF_FFFF_FFFF
}
