import Architecture
import ProfileModel

/// Finds the frames that the kernel pushes for signal handlers.
enum SignalFrame {
    private typealias Layout = SignalFrameLayout

    /// Whether a handler that runs on a stack will return into a piece of code. A word that was
    /// left there by chance, such as a return address, does not count.
    static func returns(into code: Range<UInt64>, from stack: [UInt8]) -> Bool {
        stack.withUnsafeBytes { raw in
            let words = raw.bindMemory(to: UInt64.self)
            guard words.count > Layout.length else { return false }
            return (0..<(words.count - Layout.length)).contains { index in
                code.contains(words[index + Layout.programCounter])
                    && Layout.isFlags(words[index + Layout.flags])
                    && Layout.isCodeSegment(words[index + Layout.codeSegment])
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
            // Read once: a sample may have thousands of words.
            let (length, atBase, atSize) = (Layout.length, Layout.stackBase, Layout.stackSize)
            guard words.count > length else { return nil }
            for index in 0..<(words.count - length) {
                let (base, size) = (words[index + atBase], words[index + atSize])
                guard base <= pointer, size <= 1 << 30, pointer &- base < size else { continue }
                let inner = words[index + Layout.stackPointer]
                // Linkage and flags words are small.
                guard words[index] < 64, Layout.isCodeSegment(words[index + Layout.codeSegment]),
                    inner < base || inner &- base >= size
                else { continue }
                return inner
            }
            return nil
        }
    }
}
