/// The kinds of ELF relocations that tell us something (psABI, "Relocation Types").
package enum RelocationKind {
    /// `R_X86_64_RELATIVE`: becomes the image's address plus the addend.
    @inlinable package static var relative: UInt64 { 8 }
    /// `R_AARCH64_RELATIVE`. No kind here has this number.
    @inlinable package static var relativeOfArm: UInt64 { 1027 }

    /// `R_X86_64_GLOB_DAT` and `R_X86_64_JUMP_SLOT`: a symbol's address goes into a slot of the
    /// global offset table.
    @inlinable
    package static func fillsSlot(_ kind: UInt32) -> Bool { kind == 6 || kind == 7 }

    /// Copies a variable from a library into the program (`R_X86_64_COPY`). nil: it is unknown for
    /// files of that machine.
    package static func copy(on machine: UInt16) -> UInt32? {
        switch machine {
        case Machine.elfNumber: 5
        case 183: 1024  // EM_AARCH64, R_AARCH64_COPY
        default: nil
        }
    }
}
