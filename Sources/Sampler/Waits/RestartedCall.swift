import ProfileModel

/// After a stop or a signal without a handler, the kernel restarts some calls with the time that is
/// left, under another number (`restart_syscall`). The arguments stay in their registers, and the
/// code before the program counter tells which call it was.
enum RestartedCall {
    private static let number: Int32 = 219
    /// poll nanosleep futex clock_nanosleep
    private static let restarting: Set<Int32> = [7, 35, 202, 230]

    /// The given call if the original is unknown, for example if its number was not set right
    /// there.
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
