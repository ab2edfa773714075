/// The linkers' description of their stubs' frames: a DWARF expression that is always the same,
/// except for one number (psABI). The canonical frame address is the stack pointer + 8, and another
/// 8 from a certain offset on in each 16 bytes of code.
///
/// `breg7 8; breg16 0; lit15; and; litN; ge; lit3; shl; plus`
package enum StubExpression {
    /// The operations before the number.
    package static let head: [UInt8] = [0x77, 8, 0x80, 0, 0x3F, 0x1A]
    /// The operations after the number.
    package static let tail: [UInt8] = [0x2A, 0x33, 0x24, 0x22]
    /// The operations that push a number: `lit0` to `lit31`.
    @inlinable package static var literals: ClosedRange<UInt8> { 0x30...0x4F }

    /// How far the canonical frame address is above the stack pointer.
    @inlinable
    package static func frameSize(at address: UInt64, pushedFrom first: UInt64) -> Int64 {
        address & 15 >= first ? 16 : 8
    }
}
