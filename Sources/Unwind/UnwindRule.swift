/// How to get from a frame to its caller, for one program counter, as far as eight bytes say it.
/// Nearly all of the x86-64 code in the world does it one of these ways; the rest is `general`.
struct UnwindRule: Hashable {
    enum Kind: UInt8 {
        /// The canonical frame address is the stack pointer + offset; the return address lies
        /// right below it.
        case fromStackPointer
        /// The same from the frame pointer.
        case fromFramePointer
        /// The canonical frame address was saved at the frame pointer + offset, as functions do
        /// that realign their stack. The caller's frame pointer lies relative to the frame pointer.
        case fromSavedAddress
        /// The caller's stack pointer was saved at the stack pointer + offset; its return address is on
        /// top there.
        case fromSavedStackPointer
        /// The tables say that there is no caller: a thread's entry function.
        case end
        /// DWARF expressions, signal frames, other registers: the module's tables must be asked.
        case general
        /// Right behind a `syscall` instruction that no tables cover: the C library's clone,
        /// seen from the parent (the return address is on top) or in the new thread (no caller).
        case afterSystemCall
        /// The kernel's way back from a signal handler: the interrupted registers lie on the stack.
        case signalReturn
        /// No tables cover the code: a frame record, if a valid one is there.
        case frameRecord
        /// The address lies in no code.
        case unmapped
    }

    /// The caller's frame pointer is the callee's.
    static let unchanged = Int16.min

    var cfaOffset: Int32 = 0
    /// Where the caller's frame pointer lies, relative to the canonical frame address.
    var framePointerOffset: Int16 = UnwindRule.unchanged
    var kind: Kind

    init(_ kind: Kind) {
        self.kind = kind
    }
}
