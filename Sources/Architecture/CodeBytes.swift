/// Short instructions, as bytes.
package enum CodeBytes {
    /// `endbr64`: marks the target of indirect branches.
    package static let landingMark: [UInt8] = [0xF3, 0x0F, 0x1E, 0xFA]
    package static let `return`: [UInt8] = [0xC3]
    package static let systemCall: [UInt8] = [0x0F, 0x05]
    /// `nop` of one byte.
    static let nop: [UInt8] = [0x90]
    /// `int3`
    static let trap: [UInt8] = [0xCC]

    /// `call x`, without its distance.
    @inlinable static var call: UInt8 { 0xE8 }
    /// `jmp x`, without its distance.
    @inlinable package static var jump: UInt8 { 0xE9 }
    /// `push $number` of four bytes, without the number.
    @inlinable static var push: UInt8 { 0x68 }
    /// `jmp *x(%rip)`, without its distance.
    @inlinable static var jumpThroughSlot: (UInt8, UInt8) { (0xFF, 0x25) }
}

extension [UInt8] {
    /// nil: outside the bytes.
    func at(_ index: Int) -> UInt8? { index < count ? self[index] : nil }

    /// Four bytes, lowest first, as instructions hold distances; nil: outside the bytes.
    func int32(at index: Int) -> Int32? {
        guard index >= 0, index <= count - 4 else { return nil }
        return Int32(
            bitPattern: self[index..<index + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) })
    }

    /// The target of the distance at `index`, which is counted from the distance's end; nil:
    /// outside the bytes.
    ///
    /// - Parameter start: the address of the first byte.
    func target(at index: Int, start: UInt64) -> UInt64? {
        int32(at: index).map {
            start &+ UInt64(index) &+ 4 &+ UInt64(bitPattern: Int64($0))
        }
    }

    /// How many bytes a mark for indirect branches takes at their start.
    var landingMarkLength: Int {
        starts(with: CodeBytes.landingMark) ? CodeBytes.landingMark.count : 0
    }
}

extension FixedWidthInteger {
    /// Lowest first.
    package var codeBytes: [UInt8] {
        (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
    }
}
