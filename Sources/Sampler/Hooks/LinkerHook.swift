/// The code of the function that the dynamic linker calls for debuggers.
enum LinkerHook {
    /// True if the function does nothing (`ret`, perhaps after a mark for indirect branches) and
    /// there is room for a jump. In a library built for size, another function may follow directly.
    static func isEmptyFunction(_ code: [UInt8]) -> Bool {
        let rest = code.starts(with: [0xF3, 0x0F, 0x1E, 0xFA]) ? code.dropFirst(4) : code[...]
        return rest.first == 0xC3 && code.count >= jumpSize
            && isFiller(code[..<jumpSize].dropFirst(code.count - rest.count + 1))
    }

    private static let jumpSize = 5

    /// What assemblers and linkers put between functions: zeros, traps, `nop`s of one byte, or a
    /// longer `nop`, perhaps with prefixes.
    private static func isFiller(_ code: ArraySlice<UInt8>) -> Bool {
        let rest = code.drop { [0, 0x90, 0xCC, 0x66, 0x2E].contains($0) }
        return [0x0F, 0x1F].starts(with: rest.prefix(2))
    }

    /// The function's word before its first bytes became a jump to `target`; nil: they are no such
    /// jump, or the function was not empty.
    static func original(
        of word: UInt64, at site: UInt64, ledTo target: UInt64, before: UInt64
    ) -> UInt64? {
        let bytes = withUnsafeBytes(of: before.littleEndian) { Array($0) }
        guard jump(from: site, to: target) == word & 0xFF_FFFF_FFFF, isEmptyFunction(bytes)
        else { return nil }
        return word & ~0xFF_FFFF_FFFF | before & 0xFF_FFFF_FFFF
    }

    /// `jmp target`, as the low five bytes of a word; nil if the target is too far away.
    static func jump(from address: UInt64, to target: UInt64) -> UInt64? {
        let distance = Int64(bitPattern: target &- (address &+ 5))
        guard let short = Int32(exactly: distance) else { return nil }
        return 0xE9 | UInt64(UInt32(bitPattern: short)) << 8
    }
}
