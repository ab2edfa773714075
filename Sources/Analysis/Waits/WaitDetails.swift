import Architecture
import ProfileModel

/// Completes the recorded reasons of waits: with the names of the locks' places, those of the
/// system calls, and the meaning of the functions in which a thread waited.
struct WaitDetails {
    private let symbols: SymbolTable
    private let places: DataPlaces
    private let threads: [RecordedThread]
    /// The recorded children by their ids, which the kernel may reuse.
    private let children: [Int32: [ChildProcess]]
    private var names: [Place: String?] = [:]
    private var meanings: [String: Meaning?] = [:]

    private typealias Meaning = (kind: WaitReason.Kind, detail: String?)

    private struct Place: Hashable {
        var address: UInt64
        var child: ChildIndex?
    }

    init(_ recording: Recording) {
        symbols = recording.symbols
        places = DataPlaces(recording)
        threads = recording.threads
        children = Dictionary(grouping: recording.children, by: \.pid)
    }

    /// - Parameter functions: the functions in which it waited, innermost first.
    /// - Returns: the reason, and its name in trees. That leaves out addresses and lengths of
    ///   sleep, which differ each time.
    mutating func complete(
        _ wait: Wait, functions: some Sequence<String>
    ) -> (reason: WaitReason, label: WaitReason) {
        var reason = wait.reason
        if reason.kind == .other, wait.systemCall == Self.futex,
            let known = meaning(of: functions)
        {
            (reason.kind, reason.detail) = known
        }
        if reason.kind == .sleep, let detail = reason.detail, detail.hasPrefix(Self.plainTimeout),
            let known = meaning(of: functions)?.detail
        {
            reason.detail = known + detail.dropFirst(Self.plainTimeout.count - 1)
        }
        if reason.kind == .child, reason.detail == nil { reason.detail = command(of: wait) }
        let thing = reason.detail
        if reason.kind == .other {
            let call = Function.callName(wait.systemCall)
            reason.detail = thing.map { "\(call): \($0)" } ?? call
        }
        if isForInterpreter(wait) { return (.interpreterLock, .interpreterLock) }
        var label = WaitReason(
            reason.kind, detail: reason.kind == .sleep ? nil : reason.detail?.withoutTimeout)
        guard let place = reason.place, let what = reason.detail, reason.kind != .sleep
        else { return (reason, label) }
        if let name = name(of: Place(address: place, child: child(of: wait.thread))) {
            reason.detail = "\(what) \(name)"
            label.detail = reason.detail
        } else if reason.kind != .other {
            reason.detail = "\(what) at 0x\(String(place, radix: 16))"
        }
        return (reason, label)
    }

    /// The reason of a wait that a thread of the same process ended, and no interrupt. An interrupt
    /// announces a page from the disk. A call that changes the mappings waits for no other lock
    /// that a thread could hold than the address space's.
    static func reason(of wait: Wait, endedByPeer reason: WaitReason) -> WaitReason {
        if reason.kind == .disk { return .pageFault }
        let isMapping = SystemCall(rawValue: wait.systemCall).map(mappings.contains) ?? false
        return isMapping && reason.kind == .other ? .addressSpace : reason
    }

    private static let mappings: Set<SystemCall> = [
        .mmap, .munmap, .mprotect, .mremap, .brk, .madvise,
    ]

    private static let futex: Int32 = 202
    /// The detail of a plain futex(2) wait that timed out begins with this.
    private static let plainTimeout = "futex,"

    /// The command of the child that a thread waited for, if it could not be read at the time; nil:
    /// not known.
    private func command(of wait: Wait) -> String? {
        guard let owner = wait.reason.owner else { return nil }
        let child = children[owner]?.last { $0.start <= wait.end }
        guard let child, !child.name.isEmpty else { return nil }
        let arguments = child.images.last?.arguments ?? []
        return ([child.name] + arguments.dropFirst().prefix(1)).joined(separator: " ")
    }

    /// Whether a Python thread waited for the interpreter lock. The lock's condition variable is in
    /// CPython's own state. Threads poll it every 5 ms, and each poll ends by its time-out.
    private mutating func isForInterpreter(_ wait: Wait) -> Bool {
        guard wait.systemCall == Self.futex, let place = wait.reason.place else { return false }
        return name(of: Place(address: place, child: child(of: wait.thread))) == "_PyRuntime"
    }

    private func child(of thread: ThreadIndex) -> ChildIndex? {
        threads.indices.contains(thread.rawValue) ? threads[thread.rawValue].child : nil
    }

    private mutating func name(of place: Place) -> String? {
        if let known = names[place] { return known }
        let found = places.address(of: place.address, in: place.child)
            .flatMap { symbols.frames[$0]?.first?.function }
        names[place] = .some(found)
        return found
    }

    /// The meanings of functions that wait by futex(2): the call's arguments alone do not tell its
    /// purpose. The functions are glibc's, by the beginnings of their names without underscores,
    /// and Rust's.
    private static let beginnings: [(beginning: String, kind: WaitReason.Kind, detail: String)] = [
        ("pthread_cond_", .condition, "condition variable"),
        ("pthread_mutex_", .lock, "mutex"), ("lll_lock_wait", .lock, "mutex"),
        ("pthread_rwlock_", .lock, "read-write lock"),
        ("pthread_join", .condition, "end of a thread"),
        ("pthread_clockjoin_ex", .condition, "end of a thread"),
        ("pthread_timedjoin", .condition, "end of a thread"),
        ("pthread_barrier_wait", .condition, "barrier"),
        ("pthread_once", .condition, "once"), ("cxa_guard_acquire", .condition, "once"),
        ("sem_wait", .condition, "semaphore"), ("sem_timedwait", .condition, "semaphore"),
        ("sem_clockwait", .condition, "semaphore"), ("new_sem_wait", .condition, "semaphore"),
        ("std::sys::sync::mutex::", .lock, "mutex"),
        ("std::sys::sync::rwlock::", .lock, "read-write lock"),
        ("std::sys::sync::condvar::", .condition, "condition variable"),
        ("std::thread::park", .condition, "parked"),
    ]

    /// The meaning of the first function that has one.
    private mutating func meaning(of functions: some Sequence<String>) -> Meaning? {
        for function in functions {
            let meaning = meanings[function] ?? Self.meaning(of: function)
            meanings[function] = .some(meaning)
            if let meaning { return meaning }
        }
        return nil
    }

    private static func meaning(of function: String) -> Meaning? {
        let name = function.drop { $0 == "_" }
        return beginnings.first { name.hasPrefix($0.beginning) }.map { ($0.kind, $0.detail) }
    }
}
