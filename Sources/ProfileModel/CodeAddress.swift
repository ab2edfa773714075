/// An address of code, whose kind is part of its type: where execution *is*, or where it will
/// *return to*. Only ``lookup`` knows the rule that tells them apart.
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

    /// The address to ask unwind tables and symbols about. A return address may be the first
    /// byte of the *next* function when the call was the last instruction of its own; one byte
    /// before lies inside the call.
    package var lookup: UInt64 {
        kind == .returnAddress ? value &- 1 : value
    }

    /// Whether an address of memory is the kernel's: programs have the lower half.
    package static func isKernel(_ address: UInt64) -> Bool { address >> 63 == 1 }
}
