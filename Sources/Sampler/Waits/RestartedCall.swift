import ProfileModel

/// A call that the kernel restarts with the time that is left, after a stop or a signal without a
/// handler, is another one by its number (`restart_syscall`). Its arguments stay in their registers,
/// and the program's code in front of the program counter says which one it was.
enum RestartedCall {
    private static let number: Int32 = 219
    /// poll nanosleep futex clock_nanosleep
    private static let restarting: Set<Int32> = [7, 35, 202, 230]

    /// The call itself where that cannot be told, as when its number was not set right there.
    static func original(
        of call: Int32, _ registers: Registers, _ thread: some ThreadAccess
    ) -> Int32 {
        guard call == number else { return call }
        // mov $N, %eax; syscall
        let code = thread.memory(at: registers.programCounter &- 7, count: 7)
        guard code.count == 7, code[0] == 0xB8, code[5...] == [0x0F, 0x05],
            let found = code.littleEndianInt32(at: 1), restarting.contains(found)
        else { return call }
        return found
    }
}
