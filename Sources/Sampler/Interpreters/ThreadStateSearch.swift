import Glibc
import ProcessIO
import ProfileModel
import Runtimes
import System

/// Finds where an interpreter keeps its state of each thread, by the kernel's ids of threads.
struct ThreadStateSearch {
    private let process: any ProcessAccess
    private let memory: ProcessMemory
    /// True once a check of the interpreter's frames has succeeded.
    private var isChecked = false
    private var states: [Int32: State] = [:]
    /// Threads that have none, as far as is known.
    private var others: [Int32: RepeatedSearch] = [:]
    private var nextSearch = MonotonicTime(nanoseconds: 0)
    private var budget = SearchBudget()

    struct State {
        var address: UInt64
        /// The thread's id in that state.
        var id: UInt64
    }

    /// For the first thread, which will have a state.
    private static let longestPauseOfFirst = TimeSpan.milliseconds(4)

    init(of process: any ProcessAccess, _ memory: ProcessMemory) {
        self.process = process
        self.memory = memory
    }

    /// A thread's state, as it is known; nothing is searched for.
    func known(of tid: Int32) -> State? { states[tid] }

    /// The address of a thread's state; nil: it has none, or that is not known yet.
    mutating func address(
        of tid: Int32, in interpreter: PythonInterpreter, at now: MonotonicTime
    ) -> UInt64? {
        if let known = states[tid] { return known.address }
        if let again = others[tid], !again.isDue(at: now) { return nil }
        if now >= nextSearch, budget.beginSearch(at: now) { search(interpreter, at: now) }
        if let known = states[tid] { return known.address }
        others[tid, default: RepeatedSearch(at: now)].postpone(
            at: now,
            upTo: tid == process.pid ? Self.longestPauseOfFirst : RepeatedSearch.longestPause)
        return nil
    }

    private mutating func search(_ interpreter: PythonInterpreter, at now: MonotonicTime) {
        let start = process.now
        defer {
            budget.use(process.now - start)
            nextSearch = now + RepeatedSearch.firstPause
        }
        if !isChecked { isChecked = interpreter.check(memory) == true }
        guard isChecked else { return }
        let threads = interpreter.threads(memory)
        let names = process.innerNames
        let ids = threads.first(where: \.isMain).map {
            PthreadIDs(pid: process.pid, names, main: $0.pthread, memory.memory)
        }
        states.removeAll(keepingCapacity: true)
        for thread in threads {
            let known = thread.kernelID.flatMap { Int32(exactly: $0) }.flatMap(names.thread)
            guard let tid = known ?? (thread.isMain ? process.pid : ids?.tid(of: thread.pthread))
            else {
                continue
            }
            states[tid] = State(
                address: thread.state, id: thread.kernelID ?? thread.pthread)
            others[tid] = nil
        }
    }

    mutating func forget(_ tid: Int32) {
        states[tid] = nil
        others[tid] = nil
    }
}

/// How much of our time searching may take: a fiftieth, and a little in advance.
struct SearchBudget {
    private var firstSearch: MonotonicTime?
    /// The time spent on searching, in all.
    private var used = TimeSpan.zero
    private static let first = TimeSpan.milliseconds(5)

    mutating func beginSearch(at now: MonotonicTime) -> Bool {
        let start = firstSearch ?? now
        firstSearch = start
        return used.nanoseconds < Self.first.nanoseconds + (now - start).nanoseconds / 50
    }

    mutating func use(_ time: TimeSpan) { used = used + max(.zero, time) }
}

/// The kernel's ids of threads that are known by their C library's ids (pthread_self(3)). Such an
/// id points to the library's data on the thread, which contains the kernel's id. Its place there
/// is the library's own business; the first thread, whose id is known, shows it.
struct PthreadIDs {
    private let pid: Int32
    private let names: InnerNames
    private let memory: TargetMemory
    private let places: [Int]

    private static let mostBytes = 2048

    init(pid: Int32, _ names: InnerNames, main: UInt64, _ memory: TargetMemory) {
        self.pid = pid
        self.names = names
        self.memory = memory
        let bytes = memory.read(at: main, count: Self.mostBytes)
        let own = names.own
        places = stride(from: 0, to: bytes.count - 3, by: 4).filter {
            bytes.littleEndianInt32(at: $0) == own
        }
    }

    /// nil: the id cannot be found.
    func tid(of thread: UInt64) -> Int32? {
        let bytes = memory.read(at: thread, count: Self.mostBytes)
        let found = Set(
            places.compactMap { bytes.littleEndianInt32(at: $0).flatMap(names.thread) }
                .filter { $0 != pid })
        return found.count == 1 ? found.first : nil
    }
}
