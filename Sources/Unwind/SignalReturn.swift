import Architecture
import ProfileModel

/// The registers that the kernel saved when it called a signal handler: in a `ucontext_t` on top of
/// the stack at the handler's return.
enum SignalReturn {
    static func registers(at context: UInt64, _ memory: StackMemory) -> Registers? {
        var registers = Registers()
        for (index, number) in RegisterOrder.signalContext.enumerated() {
            let word = SignalFrameLayout.registers + index
            guard let value = memory.word(at: context &+ 8 &* UInt64(word)) else { return nil }
            registers[number] = value
        }
        return registers
    }
}
