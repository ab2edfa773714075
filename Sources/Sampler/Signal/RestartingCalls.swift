import Architecture
import CAgent
import CSystem
import ProcessIO
import ProfileModel

/// What interruptions do to system calls; see signal(7), "Interruption of system
/// calls and library functions by signal handlers" and "… by stop signals".
enum RestartingCalls {
    /// The kernel restarts these after a stop, when the thread is resumed, with the time that is
    /// left; after a signal handler they return EINTR, whatever its flags.
    private static let afterStop: Set<SystemCall> = [
        .poll, .select, .pause, .nanosleep, .rt_sigsuspend, .clock_nanosleep, .pselect6, .ppoll,
    ]

    /// These are restarted after a handler with SA_RESTART, too, or cannot be interrupted. So is a page
    /// fault, outside any call.
    private static let afterHandler: Set<SystemCall> = [
        .open, .openat, .close, .stat, .fstat, .lstat, .newfstatat, .statx, .mmap, .mprotect,
        .munmap, .brk, .mremap, .madvise, .pread64, .pwrite64, .sched_yield, .clone, .fork, .vfork,
        .clone3, .execve, .execveat, .wait4, .waitid, .flock, .fsync, .fdatasync, .truncate,
        .ftruncate, .getdents, .getdents64, .rename, .mkdir, .rmdir, .link, .unlink, .symlink,
        .readlink, .getrandom,
    ]

    /// These neither wait nor move data piece by piece, or only a deadly signal ends them, or they
    /// are restarted: no signal changes their results. (A read of a folder may return fewer names
    /// at once; the reader continues until there are none. Our handler repeats those reads that are
    /// not restarted. Where files are open whose reads are cut short, ``EndlessFiles``, no signal
    /// is sent at all.)
    private static let indifferent: Set<SystemCall> = [
        .read, .pread64, .open, .openat, .stat, .fstat, .lstat, .newfstatat, .statx, .lseek, .mmap,
        .mprotect, .munmap, .brk, .mremap, .rt_sigaction, .rt_sigprocmask, .access, .faccessat,
        .faccessat2, .sched_yield, .getpid, .getuid, .getgid, .geteuid, .getegid, .getppid,
        .gettid, .getdents, .getdents64, .getcwd, .readlink, .readlinkat, .gettimeofday, .time,
        .clock_gettime, .clock_getres,
    ]

    /// Whether a signal that finds a thread in the call does not change the call's effect.
    static func isIndifferent(_ call: Int32) -> Bool {
        SystemCall(rawValue: call).map(indifferent.contains) ?? false
    }

    /// These depend on the kind of the descriptor: never a socket (it may have a timeout), an
    /// inotify or another special file.
    private static let reading: Set<SystemCall> = [.read, .readv]
    /// A write to a pipe or a terminal returns early with the length written so far.
    private static let writing: Set<SystemCall> = [.write, .writev]

    /// The kind of call that a thread waits in.
    ///
    /// - Parameter registers: at least the call's arguments, as `/proc` shows them.
    static func kind(
        of number: Int32, _ registers: Registers, process: any ProcessAccess
    ) -> WaitKind {
        if number == SystemCall.outside { return .restartsAfterHandler }
        guard let call = SystemCall(rawValue: number) else { return .fragile }
        if afterHandler.contains(call) { return .restartsAfterHandler }
        if afterStop.contains(call) { return .restartsAfterStop }
        if call == .futex {
            // Its fourth argument is a timeout, for the operations that wait.
            return registers.argument(3) == 0 ? .restartsAfterHandler : .restartsAfterStop
        }
        guard let descriptor = registers.argument(0).map({ Int32(truncatingIfNeeded: $0) })
        else { return .fragile }
        let goesOn =
            reading.contains(call)
            ? process.link(of: descriptor).map {
                $0.hasPrefix("pipe:") || $0.utf8.first == UInt8(ascii: "/")
            }
            : writing.contains(call) ? process.isRegularFile(descriptor) : false
        return goesOn == true ? .restartsAfterHandler : .fragile
    }

    /// Whether our handler makes a call again that our signal has ended: it must know the call, and its
    /// number from the code before it.
    ///
    /// - Parameter code: the program's bytes from an address on, as many as are asked for; none
    ///   where they cannot be read.
    static func isMadeAgain(
        _ call: Int32, _ registers: Registers, code: (UInt64, Int) -> [UInt8]
    ) -> Bool {
        guard let number = UInt32(exactly: call), let second = registers.argument(1),
            fl_may_be_repeated(number, second) != 0
        else { return false }
        return SystemCallInstruction.ending(at: registers.programCounter, code: code)?.number
            == call
    }
}

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
