import Glibc

/// The thread that forked the program. A program that asks to be traced (PTRACE_TRACEME), as some do
/// to keep debuggers away, is traced by that thread from then on: each signal stops it, the sampling
/// signal, too, and no other thread of ours can make it go on.
final class ParentThread: Sendable {
    /// A pipe: requests are read by the parent.
    private let reader: Int32
    private let writer: Int32

    private struct Request {
        var tid: Int32 = 0
        var signal: Int32 = 0
    }

    /// nil: there is no pipe to be had.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (reader, writer) = (ends[0], ends[1])
        // Nobody else forks as yet.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit { close(reader) }

    /// Makes a stopped thread go on, traced by nobody any more.
    func release(_ tid: Int32, delivering signal: Int32) {
        var request = Request(tid: tid, signal: signal)
        _ = write(writer, &request, MemoryLayout<Request>.size)
    }

    /// No more requests will come.
    func finish() { close(writer) }

    /// Does what is asked for, until no more requests will come. Called by the thread itself.
    func serve() {
        var request = Request()
        while read(reader, &request, MemoryLayout<Request>.size) == MemoryLayout<Request>.size {
            // Traps are for whoever traces, and would kill: the kernel sends one at each exec.
            let signal = request.signal == SIGTRAP ? 0 : request.signal
            try? Tracee(tid: request.tid).detach(delivering: signal)
        }
    }
}
