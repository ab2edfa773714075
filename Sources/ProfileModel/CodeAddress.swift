import Architecture

/// An address of code, with its kind as part of the type: where execution *is*, or where it will
/// *return to*. Only ``lookup`` treats the two differently.
package struct CodeAddress: Hashable, Sendable {
    package enum Kind: UInt8, Sendable {
        /// The instruction that the thread was about to execute (a leaf, or the code that a
        /// signal interrupted).
        case instruction = 0
        /// The instruction after a call.
        case returnAddress = 1
    }

    package var value: UInt64
    package var kind: Kind

    package init(_ value: UInt64, _ kind: Kind) {
        self.value = value
        self.kind = kind
    }

    /// The address to look up in unwind tables and symbols. A return address may be the first byte
    /// of the *next* function, if the call was the last instruction of its own. One byte before is
    /// always inside the call.
    package var lookup: UInt64 {
        kind == .returnAddress ? value &- 1 : value
    }

    /// True if a memory address is the kernel's: programs have the lower half.
    package static func isKernel(_ address: UInt64) -> Bool { address >= VirtualMemory.kernelStart }
}
