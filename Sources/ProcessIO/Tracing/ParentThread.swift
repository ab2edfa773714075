import Glibc

/// The thread that forked the program. Some programs ask to be traced (PTRACE_TRACEME) to keep
/// debuggers away. Then this thread traces the program: each signal stops it, including the
/// sampling signal, and no other thread of ours can resume it.
package final class ParentThread: Sendable {
    /// A pipe: requests are read by the parent.
    private let reader: Int32
    private let writer: Int32

    private struct Request {
        var tid: Int32 = 0
        var signal: Int32 = 0
    }

    /// nil: no pipe is available.
    package init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (reader, writer) = (ends[0], ends[1])
        // No other thread forks yet.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit { close(reader) }

    /// Resumes a stopped thread and ends its tracing.
    package func release(_ tid: Int32, delivering signal: Int32) {
        var request = Request(tid: tid, signal: signal)
        _ = write(writer, &request, MemoryLayout<Request>.size)
    }

    /// Tells the thread that no more requests will come.
    package func finish() { close(writer) }

    /// Serves requests until no more will come. Called by the thread itself.
    package func serve() {
        var request = Request()
        while read(reader, &request, MemoryLayout<Request>.size) == MemoryLayout<Request>.size {
            // SIGTRAP is meant for a tracer, and would kill the program: the kernel sends one at
            // each exec.
            let signal = request.signal == SIGTRAP ? 0 : request.signal
            try? Tracee(tid: request.tid).detach(delivering: signal)
        }
    }
}
