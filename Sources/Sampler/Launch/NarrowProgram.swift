import Architecture
import ELF
import ProcessIO
import ProfileModel

/// A program whose addresses have 32 bits: its registers, stack and start are laid out otherwise, so
/// that it has none of our code, and its stacks are not unwound.
package enum NarrowProgram: Sendable {
    /// Of i386.
    case of32Bit
    /// Of x86-64, with pointers of 32 bits.
    case x32

    /// nil: the file is none, or cannot be read.
    package init?(atPath path: String) {
        guard let file = try? ELFFile(path: path, access: .read), file.isNarrow else { return nil }
        self = file.machine == Machine.elfNumber ? .x32 : .of32Bit
    }

    /// "a 32-bit program"
    package var words: String {
        switch self {
        case .of32Bit: "a 32-bit program"
        case .x32: "an x32 program (32-bit pointers)"
        }
    }
}

extension SessionContext {
    /// Notes it if the process runs a 32-bit program now.
    func noteIfNarrow() {
        observer.isNarrow = NarrowProgram(atPath: process.programFile) != nil
        if observer.isNarrow { note(.narrowProgram) }
    }
}
