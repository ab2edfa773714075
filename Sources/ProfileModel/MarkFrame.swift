/// What a mark's trampoline has on the stack while a hit is noted, for unwinding: a word with a
/// sign and the number of its record, the address of the marked instruction, and the red zone.
package enum MarkFrame {
    /// In bytes.
    package static let redZone = 128
    package static let size: UInt64 = 16 + UInt64(redZone)
    private static let sign: UInt64 = 0xFFFF_FFFF_8F17

    /// The lower half of the word; `push` extends its sign into the upper half.
    ///
    /// - Parameter record: its lowest 16 bits count.
    package static func word(record: UInt32) -> UInt32 { 0x8F17_0000 | record & 0xFFFF }

    package static func isSign(_ word: UInt64) -> Bool { word >> 16 == sign }
}
