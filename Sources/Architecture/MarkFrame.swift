/// The stack content of a mark's trampoline while a hit is recorded, for unwinding: a word with a
/// signature and the number of its record, the address of the marked instruction, and the red zone.
package enum MarkFrame {
    /// In bytes.
    @inlinable package static var size: UInt64 { 16 + UInt64(CallingConvention.redZone) }
    private static let sign: UInt64 = 0xFFFF_FFFF_8F17

    /// The lower half of the word; `push` extends its sign into the upper half.
    ///
    /// - Parameter record: its lowest 16 bits count.
    package static func word(record: UInt32) -> UInt32 { 0x8F17_0000 | record & 0xFFFF }

    package static func isSign(_ word: UInt64) -> Bool { word >> 16 == sign }

    /// The call of the routine that records a hit, below the red zone.
    ///
    /// - Parameter address: the marked instruction's.
    package static func call(noting record: UInt32, at address: UInt64) -> MovableCode {
        MovableCode([0x48, 0x8D, 0x64, 0x24, 0x80])  // lea -128(%rsp), %rsp
            + .push(address)
            + MovableCode([CodeBytes.push] + word(record: record).codeBytes)
            + MovableCode([0xFF, 0x15], to: .routine)  // call *routine(%rip)
            + MovableCode(
                [0x48, 0x8D, 0xA4, 0x24]  // lea size(%rsp), %rsp
                    + UInt32(size).codeBytes)
    }
}
