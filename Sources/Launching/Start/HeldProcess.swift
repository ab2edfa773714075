package import Agent
package import CSystem
import Glibc
package import ProcessIO
package import ProfileModel
package import Readiness
import System

/// A child that waits to become the program.
package struct HeldProcess: ~Copyable {
    package let pid: Int32
    package let path: CommandWord
    package let arguments: [CommandWord]
    package let signals: SignalQueue
    package let release: Int32
    package let failure: Int32
    /// The memory that it passes on to the program.
    package let area: InheritedAgent?
    package let ignoresSampleSignal: Bool
    package let sites: PreparedSites?
    /// Reports which files the child opens (``ChildSetting/tellsOpens``); the caller must close it.
    package let opensListener: Int32?

    /// Starts the child. It has our directory, limits, environment and descriptors, except where
    /// `setting` and `child` differ. Its signal mask is the one that we were started with. When
    /// this returns, the child has done all that `child` asks for, so that this delays no launch.
    ///
    /// - Parameters:
    ///   - sites: where a static program makes its system calls.
    ///   - starter: the thread whose child it becomes, which shares our memory until it executes
    ///     the program. nil: it becomes the calling thread's child, with a copy of our memory.
    package init(
        path: CommandWord, arguments: [CommandWord], signals: SignalQueue,
        setting: borrowing ProgramSetting, child: ChildSetting = ChildSetting(),
        area: AgentMemory? = nil, sites: PreparedSites?, by starter: StarterThread? = nil
    ) throws(SamplerError) {
        self.path = path
        self.arguments = arguments
        self.signals = signals
        self.sites = sites
        let number = area == nil ? -1 : fl_free_descriptor(Self.leastNumber)
        ignoresSampleSignal = signals.ignoredSignals & 1 << UInt64(SIGURG - 1) != 0
        self.area = number < 0 ? nil : area.map { InheritedAgent(area: $0, descriptor: number) }
        var release: Int32 = -1
        var failure: Int32 = -1
        var listener: Int32 = -1
        let start = try ChildStart(
            path: path, arguments: arguments,
            environment: setting.environment(changing: child.environment),
            streams: setting.streams, signals: signals,
            memory: self.area?.area.inheritable ?? -1, number: number)
        let pid = child.withEntry(listener: &listener) { entry in
            // In a user namespace, our own memory would belong to another user.
            start.spawn(
                entry, by: child.namespaces.isEmpty ? starter : nil, &release, &failure)
        }
        guard pid > 0 else {
            throw .systemCall(SystemError(starting: "a process", code: -pid))
        }
        opensListener = listener < 0 ? nil : listener
        self.pid = pid
        self.release = release
        self.failure = failure
    }

    /// The lowest number for the descriptor: programs do not expect inherited ones there.
    private static let leastNumber: Int32 = 200

    /// Ends the child after a failure before the program was executed.
    package func end() {
        kill(pid, SIGKILL)
        close(failure)
        var status: Int32 = 0
        // The child may be stuck in the kernel: then it ends with us.
        for _ in 0..<20 where fl_wait(pid, 1, &status) == 0 {
            signals.awaitChild(within: .milliseconds(50))
        }
    }

    /// Waits until the stop of the exec, or the child's end if the exec failed. Passes on other
    /// stops. A file system that does not answer may keep the child for ever, so a request for our
    /// end is still served.
    ///
    /// - Returns: whether it has executed the program.
    package func waitForProgram(_ tracee: Tracee) throws(SystemError) -> Bool {
        var timeToEnd: MonotonicTime?
        while true {
            var status: Int32 = 0
            let got = fl_wait(pid, 1, &status)
            guard got != 0 else {
                signals.awaitChild(within: .milliseconds(50))
                guard SignalQueue.isToEnd else { continue }
                let end = timeToEnd ?? .now + .milliseconds(1000)
                timeToEnd = end
                if .now >= end { throw SystemError("waiting for the new process", code: EINTR) }
                continue
            }
            try check(got, "waiting for the new process")
            switch TraceEvent(status: status) {
            case .executed: return true
            case .exited: return false
            case .killed: throw SystemError("waiting for the new process", code: ESRCH)
            case .signal(let number): try tracee.resume(delivering: number)
            case .groupStop: try tracee.listen()
            default: try tracee.resume()
            }
        }
    }
}

/// Everything that a child needs to become its program. It lives as long as the child needs it.
package final class ChildStart: @unchecked Sendable {
    private let start: OpaquePointer

    /// - Parameters:
    ///   - environment: words in the form of `environ`, with their zeros.
    ///   - memory: the descriptor that the program inherits under `number`; -1: none.
    package init(
        path: CommandWord, arguments: [CommandWord], environment: [[CChar]], streams: [Int32],
        signals: SignalQueue, memory: Int32, number: Int32
    ) throws(SamplerError) {
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0.cString) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { for word in words + variables { free(word) } }
        var mask = signals.originalMask
        var error: Int32 = 0
        let made = fl_make_start(
            path.cString, &words, &variables, streams, &mask, signals.ignoredSignals, memory,
            number, &error)
        guard let made else { throw .systemCall(SystemError(starting: "a process", code: error)) }
        start = made
    }

    deinit { fl_free_start(start) }

    /// - Parameters:
    ///   - entry: the settings that the child enters; nil: none.
    ///   - starter: the thread whose child it becomes; nil: the calling thread.
    /// - Returns: the child's id, or an error number below 0.
    package func spawn(
        _ entry: UnsafeMutablePointer<fl_child_setting>?, by starter: StarterThread?,
        _ release: inout Int32, _ failure: inout Int32
    ) -> Int32 {
        let shared = SharedEntry(pointer: entry)
        let isStarting = starter?.perform { fl_share_held(self.start, shared.pointer) } ?? false
        return isStarting
            ? fl_await_held(start, entry, &release, &failure)
            : fl_fork_held(start, entry, &release, &failure)
    }

    /// Sendable: the child has finished with the entry before we are notified of it.
    private struct SharedEntry: @unchecked Sendable {
        let pointer: UnsafeMutablePointer<fl_child_setting>?
    }
}
