import Architecture
import ProcessIO
import ProfileModel

/// After a stop or a signal without a handler, the kernel restarts some calls with the time that is
/// left, under another number (`restart_syscall`). The arguments stay in their registers, and the
/// code before the program counter shows which call it was.
enum RestartedCall {
    private static let restarting: Set<SystemCall> = [.poll, .nanosleep, .futex, .clock_nanosleep]

    /// The given call if the original is unknown, for example if its number was not set right
    /// there.
    static func original(
        of call: Int32, _ registers: Registers, _ thread: some ThreadAccess
    ) -> Int32 {
        guard SystemCall(rawValue: call) == .restart_syscall else { return call }
        let instruction = SystemCallInstruction.ending(at: registers.programCounter) {
            thread.memory(at: $0, count: $1)
        }
        guard let number = instruction?.number,
            let found = SystemCall(rawValue: number), restarting.contains(found)
        else { return call }
        return number
    }
}
