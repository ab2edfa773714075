import CAgent
import CSystem
import Glibc
import ProfileModel

/// What interruptions do to system calls (x86-64 numbers); see signal(7), "Interruption of system
/// calls and library functions by signal handlers" and "… by stop signals".
enum RestartingCalls {
    /// The kernel restarts these after a stop by the tracer, with the time that is left; after a
    /// signal handler they return EINTR, whatever its flags.
    private static let afterStop: Set<Int32> = [
        7,  // poll
        23,  // select
        34,  // pause
        35,  // nanosleep
        130,  // rt_sigsuspend
        230,  // clock_nanosleep
        270,  // pselect6
        271,  // ppoll
    ]

    /// These are restarted after a handler with SA_RESTART, too, or cannot be interrupted.
    private static let afterHandler: Set<Int32> = [
        -1,  // not in a call: a page fault
        2, 257,  // open openat
        3,  // close
        4, 5, 6, 262, 332,  // stat fstat lstat newfstatat statx
        9, 10, 11, 12, 25, 28,  // mmap mprotect munmap brk mremap madvise
        17, 18,  // pread64 pwrite64
        24,  // sched_yield
        56, 57, 58, 435,  // clone fork vfork clone3
        59, 322,  // execve execveat
        61, 247,  // wait4 waitid
        73, 74, 75, 76, 77,  // flock fsync fdatasync truncate ftruncate
        78, 217,  // getdents getdents64
        82, 83, 84, 86, 87, 88, 89,  // rename mkdir rmdir link unlink symlink readlink
        318,  // getrandom
    ]

    /// These neither wait nor move data bit by bit, or only a deadly signal ends them, or they are
    /// restarted: whatever comes meanwhile, they return what they would have. (Of a folder, fewer names
    /// at once: whoever reads one goes on until there are none. Of reads, our handler makes those again
    /// that are not restarted; and where files are open whose reads are cut short, ``EndlessFiles``, no
    /// signal is sent at all.)
    private static let indifferent: Set<Int32> = [
        0, 17,  // read pread64
        2, 257,  // open openat
        4, 5, 6, 262, 332,  // stat fstat lstat newfstatat statx
        8,  // lseek
        9, 10, 11, 12, 25,  // mmap mprotect munmap brk mremap
        13, 14,  // rt_sigaction rt_sigprocmask
        21, 269, 439,  // access faccessat faccessat2
        24,  // sched_yield
        39, 102, 104, 107, 108, 110, 186,  // getpid getuid getgid geteuid getegid getppid gettid
        78, 217,  // getdents getdents64
        79, 89, 267,  // getcwd readlink readlinkat
        96, 201, 228, 229,  // gettimeofday time clock_gettime clock_getres
    ]

    /// Whether a signal that finds a thread in the call changes nothing of what the call does.
    static func isIndifferent(_ call: Int32) -> Bool { indifferent.contains(call) }

    /// Those that depend on what the descriptor is: never a socket (it may have a timeout),
    /// an inotify or another special file.
    private static let reading: Set<Int32> = [0, 19]  // read readv
    /// What writes to a pipe or a terminal returns early with what was written so far.
    private static let writing: Set<Int32> = [1, 20]  // write writev

    private static let futex: Int32 = 202

    /// What a thread waits in.
    ///
    /// - Parameter registers: at least the call's arguments, as `/proc` tells them.
    static func kind(of call: Int32, _ registers: Registers, process: Int32) -> WaitKind {
        if afterHandler.contains(call) { return .restartsAfterHandler }
        if afterStop.contains(call) { return .restartsAfterStop }
        if call == futex {
            // Its fourth argument is a timeout, for the operations that wait.
            return registers[10] == 0 ? .restartsAfterHandler : .restartsAfterStop
        }
        guard let descriptor = registers[5] else { return .fragile }
        guard reading.contains(call) || writing.contains(call) else { return .fragile }
        let goesOn = FirstThread.orAnother(of: process) { tid in
            let link = "/proc/\(tid)/fd/\(Int32(truncatingIfNeeded: descriptor))"
            return reading.contains(call) ? isPlain(link) : isRegular(link)
        }
        return goesOn == true ? .restartsAfterHandler : .fragile
    }

    /// Whether our handler makes a call again that our signal has ended: it must know the call, and its
    /// number from the code before it.
    ///
    /// - Parameter code: as many bytes of the program's as are asked for, from an address on; none where
    ///   they cannot be read.
    static func isMadeAgain(
        _ call: Int32, _ registers: Registers, code: (UInt64, Int) -> [UInt8]
    ) -> Bool {
        guard let number = UInt32(exactly: call), let second = registers[4],
            fl_may_be_repeated(number, second) != 0
        else { return false }
        let length = CallInstruction.length
        let bytes = code(registers.programCounter &- UInt64(length), length)
        return CallInstruction(bytes)?.number == call
    }

    private static func isRegular(_ link: String) -> Bool? {
        var file = fl_file()
        return fl_known_file(AT_FDCWD, link, &file) == 0 ? fl_is_regular(file.mode) == 1 : nil
    }

    private static func isPlain(_ link: String) -> Bool? {
        var target = [UInt8](repeating: 0, count: 256)
        let length = readlink(link, &target, target.count)
        guard length > 0 else { return nil }
        return target.starts(with: Array("pipe:".utf8)) || target.first == UInt8(ascii: "/")
    }
}
