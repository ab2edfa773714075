import ProfileModel

/// The frame that the kernel pushes for a signal handler (x86-64 `struct rt_sigframe`: a return
/// address, then `ucontext_t`; see <asm/ucontext.h> and <asm/sigcontext.h>).
enum SignalFrame {
    // Offsets within ucontext_t, in 8-byte words.
    private static let stackBase = 2
    private static let stackSize = 4
    private static let interruptedStackPointer = 5 + 15
    private static let interruptedCode = 5 + 16
    private static let flags = 5 + 17
    private static let codeSegment = 5 + 18
    private static let length = 5 + 19

    /// Whether a handler that runs on a stack will return into a piece of code. A word that was
    /// left there by chance, such as a return address, does not count.
    static func returns(into code: Range<UInt64>, from stack: [UInt8]) -> Bool {
        stack.withUnsafeBytes { raw in
            let words = raw.bindMemory(to: UInt64.self)
            guard words.count > length else { return false }
            return (0..<(words.count - length)).contains { index in
                code.contains(words[index + interruptedCode])
                    && words[index + flags] & ~0xFF_FFFF == 0
                    && words[index + codeSegment] & 0xFFFF == 0x33
            }
        }
    }

    /// The stack pointer of the code that a handler interrupted, if the handler runs on an
    /// alternate stack. The frame shows that: it holds that stack's base and size, and the thread's
    /// stack pointer lies between.
    static func interruptedStackPointer(
        behind stack: StackCopy, at pointer: UInt64
    ) -> UInt64? {
        return stack.bytes.withUnsafeBytes { raw -> UInt64? in
            let words = raw.bindMemory(to: UInt64.self)
            guard words.count > length else { return nil }
            for index in 0..<(words.count - length) {
                let base = words[index + stackBase]
                let size = words[index + stackSize]
                guard base <= pointer, size <= 1 << 30, pointer &- base < size else { continue }
                let inner = words[index + interruptedStackPointer]
                // 64-bit user code runs in segment 0x33; linkage and flags words are small.
                guard words[index] < 64, words[index + codeSegment] & 0xFFFF == 0x33,
                    inner < base || inner &- base >= size
                else { continue }
                return inner
            }
            return nil
        }
    }
}
