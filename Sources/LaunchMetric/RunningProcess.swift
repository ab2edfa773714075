import Foundation
import Glibc
import Synchronization

/// A process that we start. It can be asked to end even before it is started.
///
/// Foundation's `Process` is not used: its children inherit the calling thread's signal mask.
/// Threads that run tasks block nearly all signals, so no signal could end a program launched from
/// them.
final class RunningProcess: Sendable {
    private enum State {
        case new
        case running(pid_t)
        /// It has ended, or must not be started.
        case over
    }

    private let path: String
    private let arguments: [String]
    private let state = Mutex(State.new)

    init(path: String, arguments: [String]) {
        self.path = path
        self.arguments = arguments
    }

    /// Runs it to its end, with empty input, and its output in these files.
    ///
    /// - Returns: its exit status; 128 + N: signal N ended it.
    func run(output: String, error: String) async throws -> Int32 {
        let pid = try start(output, error)
        return await withCheckedContinuation { continuation in
            // Waiting needs a thread of its own: tasks share only a few.
            Thread.detachNewThread { continuation.resume(returning: self.wait(for: pid)) }
        }
    }

    /// Sends it a SIGINT.
    func interrupt() {
        state.withLock { state in
            switch state {
            case .new: state = .over
            case .running(let pid): kill(pid, SIGINT)
            case .over: break
            }
        }
    }

    private func start(_ output: String, _ error: String) throws -> pid_t {
        try state.withLock { state in
            guard case .new = state else { throw CancellationError() }
            var pid: pid_t = 0
            let problem = spawn(&pid, output, error)
            guard problem == 0 else {
                state = .over
                throw LaunchMetricError.notInstalled(
                    "cannot run '\(path)': \(String(cString: strerror(problem)))")
            }
            state = .running(pid)
            return pid
        }
    }

    private func wait(for pid: pid_t) -> Int32 {
        var info = siginfo_t()
        // It stays a zombie, so that its id is not reused while it may be signalled.
        while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return state.withLock { state in
            state = .over
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            // The same as WIFEXITED and the related macros.
            let signal = status & 0x7F
            return signal == 0 ? status >> 8 & 0xFF : 128 + signal
        }
    }

    /// - Returns: 0 or an `errno`.
    private func spawn(_ pid: inout pid_t, _ output: String, _ error: String) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, flags, 0o600)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, error, flags, 0o600)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        return posix_spawn(&pid, path, &actions, &attributes, &words, environ)
    }
}
