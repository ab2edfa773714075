/// Functions that do nothing, like the one that dynamic linkers call for debuggers.
package enum EmptyFunction {
    /// True if the function does nothing (`ret`, perhaps after a mark for indirect branches) and
    /// there is room for a jump. In a library built for size, another function may follow directly.
    package static func hasRoomForJump(_ code: [UInt8]) -> Bool {
        let behind = code.landingMarkLength + 1
        return code.dropFirst(behind - 1).starts(with: CodeBytes.return)
            && code.count >= JumpPatch.length
            && isFiller(code[..<JumpPatch.length].dropFirst(behind))
    }

    /// Filler that assemblers and linkers put between functions: zeros, traps, `nop`s of one byte,
    /// or a longer `nop`, perhaps with prefixes.
    private static func isFiller(_ code: ArraySlice<UInt8>) -> Bool {
        let rest = code.drop { [0, 0x90, 0xCC, 0x66, 0x2E].contains($0) }
        return [0x0F, 0x1F].starts(with: rest.prefix(2))
    }
}
