/// The frame that the kernel pushes for a signal handler (`struct rt_sigframe`: a return address, then
/// `ucontext_t`; see <asm/ucontext.h> and <asm/sigcontext.h>).
///
/// Places are counted in words of eight bytes, from the start of `ucontext_t`.
package enum SignalFrameLayout {
    /// The alternate stack's first address.
    @inlinable package static var stackBase: Int { 2 }
    @inlinable package static var stackSize: Int { 4 }
    /// The interrupted registers begin here, in ``RegisterOrder/signalContext``.
    @inlinable package static var registers: Int { 5 }
    @inlinable package static var stackPointer: Int { registers + 15 }
    @inlinable package static var programCounter: Int { registers + 16 }
    @inlinable package static var flags: Int { registers + 17 }
    @inlinable package static var codeSegment: Int { registers + 18 }
    @inlinable package static var length: Int { registers + 19 }

    /// True if the word can hold the processor's flags.
    @inlinable
    package static func isFlags(_ word: UInt64) -> Bool { word & ~0xFF_FFFF == 0 }

    /// True if the word can hold the segments of 64-bit code.
    @inlinable
    package static func isCodeSegment(_ word: UInt64) -> Bool {
        word & 0xFFFF == Machine.codeSegment
    }

    /// `SA_RESTORER`, a flag of sigaction(2): the handler returns to the address in the action.
    @inlinable package static var restorerFlag: UInt64 { 0x0400_0000 }
}
