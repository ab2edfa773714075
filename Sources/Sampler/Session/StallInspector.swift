import ProcessIO
import ProfileModel

/// Finds out what each thread of a process waits for, without stopping any.
struct StallInspector {
    private let session: ProcessSession
    private let tids: Set<Int32>

    init(session: ProcessSession) {
        self.session = session
        tids = Set(session.threads.values.filter { $0.phase != .exited }.map(\.tid))
    }

    func stall(at now: MonotonicTime) -> Stall {
        let threads = session.threads.values.filter { $0.phase != .exited }
            .sorted { $0.index < $1.index }
        return Stall(time: now, threads: threads.map(look))
    }

    private func ownThread(_ inner: Int32) -> Int32? {
        guard session.context.sharesNamespace else {
            return session.process.innerNames.thread(inner)
        }
        return tids.contains(inner) ? inner : nil
    }

    private func look(at thread: TracedThread) -> StalledThread {
        session.parts.register.rename(thread)
        let state = thread.state
        var call: Int32?
        var futex: FutexWait?
        if case .blocked(let number, let registers)? = thread.activity() {
            call = number
            futex = FutexCall(number, registers)?.wait(
                thread: ownThread,
                read: { thread.tracee.memory(at: $0, count: 4).littleEndianInt32(at: 0) })
        }
        return StalledThread(
            thread: thread.index, tid: thread.tid, name: thread.name, state: state,
            systemCall: call, futex: futex)
    }
}
