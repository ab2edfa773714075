import Glibc

/// System calls (x86-64) that a stop by the tracer does not end: the kernel restarts them, with
/// the time that is left. All others may return EINTR after any stop: epoll_wait, semop,
/// msgrcv, sigtimedwait, io_getevents, sockets with a timeout … (signal(7), "Interruption of
/// system calls and library functions by stop signals").
enum RestartingCalls {
    private static let always: Set<Int32> = [
        7,  // poll
        23,  // select
        34,  // pause
        35,  // nanosleep
        61,  // wait4
        130,  // rt_sigsuspend
        202,  // futex
        230,  // clock_nanosleep
        247,  // waitid
        270,  // pselect6
        271,  // ppoll
    ]

    /// Those that depend on what the descriptor is: never a socket (it may have a timeout),
    /// an inotify or another special file.
    private static let byDescriptor: Set<Int32> = [0, 1, 19, 20]  // read write readv writev

    /// Whether a stop leaves the call alone. The descriptor of a read is looked up.
    static func survivesStop(_ call: Int32, process: Int32, thread: Int32) -> Bool {
        if always.contains(call) { return true }
        guard byDescriptor.contains(call) else { return false }
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/\(process)/task/\(thread)/syscall")
        var text = buffer.text
        text.skipWords(1)
        guard let descriptor = text.hexadecimal() else { return false }
        return isPlain("/proc/\(process)/fd/\(descriptor)")
    }

    private static func isPlain(_ link: String) -> Bool {
        var target = [UInt8](repeating: 0, count: 256)
        let length = readlink(link, &target, target.count)
        guard length > 0 else { return false }
        return target.starts(with: Array("pipe:".utf8)) || target.first == UInt8(ascii: "/")
    }
}
