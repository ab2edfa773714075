import CSystem
import Glibc
package import ProfileModel
import System

/// Ends the processes that a launch leaves behind. To find them, we become the parent of all
/// orphans (PR_SET_CHILD_SUBREAPER, prctl(2)). So no process that a program starts escapes us, not
/// even a daemon, unless a service manager starts it.
package struct Cleaner: Sendable {
    /// How long processes have to end by themselves, and then to end once killed.
    private let patience: TimeSpan
    /// The process whose descendants are ended: ours.
    private let root: Int32

    /// From now on orphans become our children.
    package init(patience: TimeSpan = .milliseconds(1000)) throws(ConditionError) {
        self.init(patience: patience, root: getpid())
        let result = fl_adopt_orphans(1)
        guard result == 0 else {
            throw .failed(
                condition: "a clean launch", step: "becoming the parent of orphans", code: -result)
        }
    }

    /// For tests: as for another process, which is the parent of its orphans.
    init(patience: TimeSpan, root: Int32) {
        self.patience = patience
        self.root = root
    }

    /// Ends all our descendants, first by request (SIGTERM), then by force. Call it when the launch
    /// is over and its process has been waited for.
    ///
    /// - Parameters:
    ///   - kept: our children that do not belong to a launch.
    ///   - endsDaemons: true to end also processes in sessions of their own.
    /// - Returns: the processes found, in the order of ids; empty: nothing was left behind.
    package func clean(kept: Set<Int32> = [], endsDaemons: Bool) -> [LeftBehind] {
        guard mayHaveDescendants else { return [] }
        var found: [Int32: LeftBehind] = [:]
        let mine = getsid(root)
        let start = MonotonicTime.now
        var signal = SIGTERM
        var asked: Set<Asked> = []
        // We may have missed a child that was started while we looked and whose parent has ended
        // since.
        var quietLooks = 0
        while quietLooks < 2, mayHaveDescendants {
            let all = ProcessEntry.all()
            let rest = ProcessEntry.descendants(of: root, among: all, except: kept)
            reap(rest)
            var isWaiting = false
            for process in rest where !process.isZombie {
                let isDaemon = process.session != mine
                let isToEnd = endsDaemons || !isDaemon
                var entry =
                    found[process.pid]
                    ?? LeftBehind(
                        pid: process.pid, name: process.name, isDaemon: isDaemon, end: .running)
                if isToEnd {
                    isWaiting = true
                    entry.end = signal == SIGTERM ? .terminated : .killed
                    if asked.insert(Asked(process, signal)).inserted {
                        Self.send(signal, to: process)
                    }
                }
                found[process.pid] = entry
            }
            quietLooks = isWaiting ? 0 : quietLooks + 1
            guard isWaiting else { continue }
            let waited = MonotonicTime.now - start
            if waited > patience + patience {
                for process in rest where !process.isZombie {
                    if found[process.pid]?.end == .killed { found[process.pid]?.end = .remains }
                }
                break
            }
            signal = waited > patience ? SIGKILL : SIGTERM
            Self.pause()
        }
        return found.values.sorted { $0.pid < $1.pid }
    }

    /// A usual launch leaves nothing behind; then we need not look at all processes.
    private var mayHaveDescendants: Bool { root != getpid() || fl_has_children() != 0 }

    /// A process and the signal that we sent it. Its parent and its name may change in the
    /// meantime.
    private struct Asked: Hashable {
        var pid: Int32
        var start: Int64
        var signal: Int32

        init(_ process: ProcessEntry, _ signal: Int32) {
            (pid, start) = (process.pid, process.start)
            self.signal = signal
        }
    }

    /// Signals only the intended process: its id may have been reused.
    private static func send(_ signal: Int32, to process: ProcessEntry) {
        let handle = fl_open_pid(process.pid)
        guard handle >= 0 else { return }
        defer { close(handle) }
        guard ProcessEntry.read(process.pid)?.start == process.start else { return }
        _ = fl_signal_pid(handle, signal)
        // A stopped process would not react.
        if signal == SIGTERM { _ = fl_signal_pid(handle, SIGCONT) }
    }

    /// Takes the status of our own children that have ended.
    private func reap(_ processes: [ProcessEntry]) {
        for process in processes where process.isZombie && process.parent == getpid() {
            var status: Int32 = 0
            _ = fl_wait(process.pid, 1, &status)
        }
    }

    private static func pause() {
        var time = timespec(tv_sec: 0, tv_nsec: 2_000_000)
        nanosleep(&time, nil)
    }
}
