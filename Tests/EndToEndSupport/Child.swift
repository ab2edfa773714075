package import Foundation
import Glibc

/// How a command ended, and its output.
package struct Finished: Hashable {
    package enum End: Hashable {
        case exited(Int32)
        case signalled(Int32)
    }

    package var end: End
    package var output: String
    package var error: String

    package init(end: End, output: String, error: String) {
        self.end = end
        self.output = output
        self.error = error
    }

    /// The exit status; nil if a signal killed it.
    package var status: Int32? {
        if case .exited(let status) = end { return status }
        return nil
    }

    /// The lines of standard error.
    package var complaints: [Substring] { error.split(separator: "\n") }

    /// Whether it failed in the expected way: with this status, and one line that says why.
    package func isRefusal(_ status: Int32, mentioning words: String...) -> Bool {
        self.status == status && complaints.count == 1 && error.hasPrefix("firstlight: ")
            && error.hasSuffix("\n") && words.allSatisfy { error.contains($0) }
    }
}

/// A running command. If no test waits for it, it is killed in the end, with its group.
package final class Child {
    package let pid: pid_t
    private let name: String
    private let output: CapturedStream
    private let error: CapturedStream
    private var isReaped = false

    package init(pid: pid_t, name: String, output: CapturedStream, error: CapturedStream) {
        self.pid = pid
        self.name = name
        self.output = output
        self.error = error
    }

    deinit {
        if !isReaped {
            kill(-pid, SIGKILL)
            _ = reap()
        }
        output.close()
        error.close()
    }

    /// Waits for its end. After `limit` seconds it is killed, with its group, and an error is
    /// thrown.
    package func finish(limit: TimeInterval = 300) throws -> Finished {
        let isOnTime = waitUntilEnded(limit: limit)
        if !isOnTime { kill(-pid, SIGKILL) }
        let end = reap()
        guard isOnTime else {
            throw Command.Failure(
                description: "\(name): not done after \(limit) s; \(error.contents())")
        }
        return Finished(end: end, output: output.contents(), error: error.contents())
    }

    /// Waits until it has ended, and leaves a zombie. False: it is still running.
    package func waitUntilEnded(limit: TimeInterval = 300) -> Bool {
        let ended = DispatchSemaphore(value: 0)
        let pid = pid
        Thread.detachNewThread {
            var info = siginfo_t()
            while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            ended.signal()
        }
        return ended.wait(timeout: .now() + limit) == .success
    }

    /// True if it has ended already; it stays a zombie.
    package var hasEnded: Bool {
        var info = siginfo_t()
        // As long as it runs, nothing is filled in.
        return waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT | WNOHANG) == 0
            && info.si_signo == SIGCHLD
    }

    private func reap() -> Finished.End {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        isReaped = true
        // As in WIFEXITED and similar macros.
        let signal = status & 0x7f
        return signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal)
    }
}
