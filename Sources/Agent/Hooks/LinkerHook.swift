import Architecture

/// The function that the dynamic linker calls for debuggers.
package enum LinkerHook {
    /// The function's word before its first bytes became a jump to `target`; nil: they are no such
    /// jump, or the function was not empty.
    package static func original(
        of word: UInt64, at site: UInt64, ledTo target: UInt64, before: UInt64
    ) -> UInt64? {
        guard JumpPatch.word(from: site, to: target) == JumpPatch.replaced(of: word),
            EmptyFunction.hasRoomForJump(before.codeBytes)
        else { return nil }
        return JumpPatch.word(word, beginning: before)
    }
}
