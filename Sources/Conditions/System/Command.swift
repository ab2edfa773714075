import CSystem
import Glibc
import ProfileModel
import System

/// The result of a foreign helper program: run to its end, but never longer than a limit.
package struct CommandResult: Hashable, Sendable {
    package enum Ending: Hashable, Sendable {
        case exited(Int32)
        case signalled(Int32)
        /// It took too long, and was killed with its process group.
        case tookTooLong
        /// It could not be started: `errno`.
        case notStarted(Int32)
        /// It ended, and its status was taken elsewhere.
        case unknown
    }

    package var ending: Ending
    /// The last 4 KiB of its standard output and error.
    package var output: String

    package var hasSucceeded: Bool { ending == .exited(0) }
}

/// How to run such a program.
struct Command {
    var words: [String]
    /// `NAME=value` words; nil: ours.
    var environment: [[UInt8]]?
    var limit: TimeSpan

    /// Runs it in its own process group, with no signal blocked and an empty standard input.
    func run() -> CommandResult {
        var ends: [Int32] = []
        let shortage = makePipe(&ends)
        guard shortage == 0 else {
            return CommandResult(ending: .notStarted(shortage), output: "")
        }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        defer { close(ends[0]) }
        var pid: pid_t = 0
        let problem = spawn(&pid, output: ends[1])
        close(ends[1])
        guard problem == 0 else { return CommandResult(ending: .notStarted(problem), output: "") }
        var output = OutputTail(descriptor: ends[0])
        let ending = wait(for: pid, &output)
        output.drain()
        return CommandResult(ending: ending, output: output.text)
    }

    private func spawn(_ pid: inout pid_t, output: Int32) -> Int32 {
        Spawning.spawn(&pid, words, environment: environment) { actions in
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_adddup2(&actions, output, 1)
            posix_spawn_file_actions_adddup2(&actions, output, 2)
        }
    }

    private func wait(for pid: pid_t, _ output: inout OutputTail) -> CommandResult.Ending {
        let handle = fl_open_pid(pid)
        defer { if handle >= 0 { close(handle) } }
        let end = MonotonicTime.now + limit
        var isTooLong = false
        while fl_has_ended(pid) == 0 {
            if MonotonicTime.now >= end {
                isTooLong = true
                kill(-pid, SIGKILL)
                kill(pid, SIGKILL)
                break
            }
            var watched = [
                pollfd(fd: handle, events: Int16(POLLIN), revents: 0),
                pollfd(
                    fd: output.isOver ? -1 : output.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            poll(&watched, nfds_t(watched.count), handle >= 0 ? 100 : 5)
            output.drain()
            if watched[0].revents != 0 { break }
        }
        var status: Int32 = 0
        let ended = fl_wait_briefly(pid, &status)
        if isTooLong { return .tookTooLong }
        guard ended == pid else { return .unknown }
        return status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .signalled(status & 0x7f)
    }
}

/// The last part of a pipe's data.
private struct OutputTail {
    let descriptor: Int32
    private(set) var isOver = false
    private var bytes: [UInt8] = []
    private static let most = 4096

    init(descriptor: Int32) { self.descriptor = descriptor }

    mutating func drain() {
        var part = [UInt8](repeating: 0, count: 1 << 14)
        // A process that writes faster than we read must not keep us here.
        for _ in 0..<64 where !isOver {
            let count = read(descriptor, &part, part.count)
            if count == 0 { isOver = true }
            guard count > 0 else { return }
            bytes += part[..<count]
            bytes.removeFirst(max(0, bytes.count - Self.most))
        }
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }
}
