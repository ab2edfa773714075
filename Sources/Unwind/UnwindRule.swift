/// How to get from a frame to its caller, for one program counter, in eight bytes. Nearly all
/// code fits one of these kinds; the rest is `general`.
struct UnwindRule: Hashable {
    enum Kind: UInt8 {
        /// The canonical frame address is the stack pointer + offset; the return address is right
        /// below it.
        case fromStackPointer
        /// As ``fromStackPointer``, relative to the frame pointer.
        case fromFramePointer
        /// The canonical frame address was saved at the frame pointer + offset, as in functions
        /// that realign their stack. The caller's frame pointer is saved relative to the frame
        /// pointer.
        case fromSavedAddress
        /// The caller's stack pointer was saved at the stack pointer + offset; its return address
        /// is on top of that stack.
        case fromSavedStackPointer
        /// The tables say that there is no caller: a thread's entry function.
        case end
        /// DWARF expressions, signal frames, other registers: the module's tables must be asked.
        case general
        /// Right after a `syscall` instruction that no tables cover: the C library's clone, in the
        /// parent (the return address is on top) or in the new thread (no caller).
        case afterSystemCall
        /// The kernel's return from a signal handler: the interrupted registers are on the stack.
        case signalReturn
        /// The return address is the start of a function, but no call precedes it: the function has
        /// nothing on the stack.
        case beginning
        /// No tables cover the code: follow a frame record, if there is a valid one.
        case frameRecord
        /// There is no code at the address.
        case unmapped
    }

    /// The caller's frame pointer is the same as the callee's.
    static let unchanged = Int16.min

    var cfaOffset: Int32 = 0
    /// Where the caller's frame pointer was saved, relative to the canonical frame address.
    var framePointerOffset: Int16 = UnwindRule.unchanged
    var kind: Kind

    init(_ kind: Kind) {
        self.kind = kind
    }
}
