import ProfileModel

/// The registers that the kernel saved when it called a signal handler (x86-64 `ucontext_t`, on
/// top of the stack at the handler's return; see <asm/ucontext.h>).
enum SignalReturn {
    /// In the order of the saved words: r8 … r15 rdi rsi rbp rbx rdx rax rcx rsp rip, by their
    /// DWARF numbers.
    private static let order = [8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16]
    private static let firstRegister: UInt64 = 40

    static func registers(at context: UInt64, _ memory: StackMemory) -> Registers? {
        var registers = Registers()
        for (index, number) in order.enumerated() {
            let slot = context &+ firstRegister &+ 8 &* UInt64(index)
            guard let value = memory.word(at: slot) else { return nil }
            registers[number] = value
        }
        return registers
    }
}
