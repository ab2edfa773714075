import CSystem
import Glibc
package import ProfileModel

/// What goes on when a launch is over: the program, and what it has left behind. Nobody else waits for
/// these processes.
package struct LaunchRest: Sendable {
    /// nil: it has ended.
    package let program: Int32?
    /// Children of ours that have nothing to do with it.
    private let others: Set<Int32>

    /// nil: there is nothing.
    init?(program: Int32?, besides others: [Int32]) {
        self.program = program
        self.others = Set(others)
        if program == nil, processes.isEmpty { return nil }
    }

    package struct Process: Hashable, Sendable {
        package var pid: Int32
        package var name: String
    }

    /// Those of them whose parents are gone or we are, the program first; what these have started is
    /// not among them. Zombies are gone.
    package var processes: [Process] {
        let orphans = Self.children.filter { !others.contains($0) && $0 != program }
        return ([program].compactMap { $0 } + orphans).compactMap { pid in
            guard let stat = ProcessFiles(pid: pid).stat(), !stat.isZombie || hasThreads(pid)
            else {
                reap(pid)
                return nil
            }
            return Process(pid: pid, name: KernelThread(process: pid, tid: pid).name() ?? "")
        }
    }

    /// Ends all of them: by SIGTERM, and what is there after `patience` by SIGKILL.
    ///
    /// - Returns: what could not be ended, e.g. because a file server does not answer.
    @discardableResult
    package func end(within patience: TimeSpan = .milliseconds(1000)) -> [Process] {
        let (soft, hard) = (MonotonicTime.now + patience, MonotonicTime.now + patience + Self.last)
        var told: Set<Int32> = []
        while true {
            let left = processes
            let now = MonotonicTime.now
            guard !left.isEmpty, now < hard else { return left }
            for process in left {
                // What these leave behind becomes ours, and is found the next time.
                if now >= soft {
                    kill(process.pid, SIGKILL)
                } else if told.insert(process.pid).inserted {
                    kill(process.pid, SIGTERM)
                    kill(process.pid, SIGCONT)
                }
            }
            usleep(Self.interval)
        }
    }

    /// How long SIGKILL may take.
    private static let last = TimeSpan.milliseconds(2000)
    private static let interval: UInt32 = 500

    private static var children: [Int32] { ProcessFiles(pid: getpid()).children ?? [] }

    private func hasThreads(_ pid: Int32) -> Bool { ProcessFiles(pid: pid).hasLivingThreads }

    private func reap(_ pid: Int32) {
        var status: Int32 = 0
        _ = fl_wait(pid, 1, &status)
    }
}
