import CSystem
import Glibc
import ProfileModel

/// What a child becomes, for as long as it needs it.
final class ChildStart: @unchecked Sendable {
    private let start: OpaquePointer

    /// - Parameters:
    ///   - environment: words as `environ` has them, with their zeros.
    ///   - memory: what is left to the program under `number`; -1: nothing is.
    init(
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
        guard let made else { throw .systemCall(SystemError("starting a process", code: error)) }
        start = made
    }

    deinit { fl_free_start(start) }

    /// - Parameters:
    ///   - entry: what the child enters; nil: nothing.
    ///   - starter: whose child it is, if it is not the calling thread's.
    /// - Returns: its id, or an error number below 0.
    func spawn(
        _ entry: UnsafeMutablePointer<fl_child_setting>?, by starter: StarterThread?,
        _ release: inout Int32, _ failure: inout Int32
    ) -> Int32 {
        let shared = SharedEntry(pointer: entry)
        let isStarting = starter?.perform { fl_share_held(self.start, shared.pointer) } ?? false
        return isStarting
            ? fl_await_held(start, entry, &release, &failure)
            : fl_fork_held(start, entry, &release, &failure)
    }

    /// The child is through with it before we are told of it.
    private struct SharedEntry: @unchecked Sendable {
        let pointer: UnsafeMutablePointer<fl_child_setting>?
    }
}

/// The thread whose children measured programs are. It lives as long as we do: a program may ask for a
/// signal at its end (PR_SET_PDEATHSIG). While a child shares our memory the kernel keeps it waiting.
final class StarterThread: @unchecked Sendable {
    /// nil: there can be none.
    static let shared = StarterThread()

    /// Posted when there is work, and when it is done.
    private let ready = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private let idle = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    /// Belongs to whoever has taken `idle`, then to the thread.
    private var work: (@Sendable () -> Void)?

    init?() {
        guard sem_init(ready, 0, 0) == 0, sem_init(idle, 0, 1) == 0,
            startThread({ [self] in serve() })
        else { return nil }
    }

    /// Has the thread do something, and does not wait for it.
    ///
    /// - Returns: false: it is still waiting for a child.
    func perform(_ work: @escaping @Sendable () -> Void) -> Bool {
        let deadline = MonotonicTime.now + Self.patience
        while sem_trywait(idle) != 0 {
            guard .now < deadline else { return false }
            usleep(100)
        }
        self.work = work
        sem_post(ready)
        return true
    }

    /// Its last child has executed its program, or is gone: it needs no more than a core.
    private static let patience = TimeSpan.milliseconds(100)

    private func serve() {
        while true {
            while sem_wait(ready) != 0 {}
            work?()
            work = nil
            sem_post(idle)
        }
    }
}
