import ProfileModel
import Runtimes
import System

/// Finds the interpreter that a process runs, and where it keeps each thread's frames.
///
/// Nothing is asked of the program, and nothing that is read is believed without being checked: what is
/// not there yet is looked for again.
final class InterpreterWatch {
    private let pid: Int32
    private let memory: ProcessMemory
    private(set) var interpreter: PythonInterpreter?
    /// Whether its frames were found to be what they should be.
    private var isChecked = false
    /// Files that may be an interpreter's, in the order of their names.
    private var candidates: [String] = []
    /// When they are looked at again: one that is being mapped is not what it will be.
    private var next = Search(next: MonotonicTime(nanoseconds: 0), pause: firstPause)
    /// Where threads' states are, by the kernel's ids.
    private var states: [Int32: ThreadState] = [:]
    /// Threads that have none, as far as is known.
    private var others: [Int32: Search] = [:]
    private var nextSearch = MonotonicTime(nanoseconds: 0)
    private var firstSearch: MonotonicTime?
    /// How long was searched, in all.
    private var searching = TimeSpan.zero
    private static let firstBudget = TimeSpan.milliseconds(5)

    private struct ThreadState {
        var address: UInt64
        /// What it has as the thread's id.
        var id: UInt64
    }

    /// When something is looked for again.
    private struct Search {
        var next: MonotonicTime
        var pause: TimeSpan

        mutating func postpone(at now: MonotonicTime, upTo longest: TimeSpan) {
            next = now + pause
            pause = min(pause + pause, longest)
        }
    }

    private static let firstPause = TimeSpan.milliseconds(1)
    private static let longestPause = TimeSpan.milliseconds(500)
    /// Of the first thread, which will have one.
    private static let longestOfFirst = TimeSpan.milliseconds(4)

    init(pid: Int32) {
        self.pid = pid
        memory = ProcessMemory(pid: pid)
    }

    // MARK: The interpreter

    /// All code that is mapped by now.
    ///
    /// - Returns: an interpreter that was not known before.
    func saw(_ code: [CodeMapping], at now: MonotonicTime) -> FoundInterpreter? {
        guard interpreter == nil else { return nil }
        for mapping in code where PythonInterpreter.mayBe(path: mapping.path) {
            if candidates.contains(mapping.path) { continue }
            candidates = (candidates + [mapping.path]).sorted()
            next = Search(next: now, pause: Self.firstPause)
        }
        return findAgain(at: now)
    }

    /// Looks at what is mapped once more, if that is due.
    ///
    /// - Returns: an interpreter that was not known before.
    func findAgain(at now: MonotonicTime) -> FoundInterpreter? {
        guard interpreter == nil, !candidates.isEmpty, now >= next.next else { return nil }
        next.postpone(at: now, upTo: Self.longestPause)
        for path in candidates {
            guard let image = image(of: path) else { continue }
            let symbols = image.ranges(ofSymbols: PythonInterpreter.symbols)
            interpreter = PythonInterpreter(
                path: path, symbol: { symbols[$0]?.lowerBound }, memory: memory)
            if let interpreter {
                return FoundInterpreter(
                    interpreter: interpreter, loop: symbols[PythonInterpreter.loop] ?? 0..<0)
            }
        }
        return nil
    }

    /// Where the file's beginning is mapped.
    private func image(of path: String) -> LoadedImage? {
        var buffer = ReadBuffer(capacity: 65536)
        buffer.readAll("maps", of: pid)
        let start = ProcFormats.maps(buffer.text).first { $0.path == path && $0.fileOffset == 0 }
        return start.flatMap { LoadedImage(base: $0.start, memory: memory.memory) }
    }

    // MARK: Threads

    /// Where a thread's state is; nil: it has none, or that is not known yet.
    func state(of tid: Int32, at now: MonotonicTime) -> UInt64? {
        guard let interpreter else { return nil }
        if let known = states[tid] { return known.address }
        if let search = others[tid], now < search.next { return nil }
        if now >= nextSearch, maySearch(at: now) { search(interpreter, at: now) }
        if let known = states[tid] { return known.address }
        others[tid, default: Search(next: now, pause: Self.firstPause)].postpone(
            at: now, upTo: tid == pid ? Self.longestOfFirst : Self.longestPause)
        return nil
    }

    /// Of our time, searching takes a fiftieth at most, and a little beforehand.
    private func maySearch(at now: MonotonicTime) -> Bool {
        let start = firstSearch ?? now
        firstSearch = start
        return searching.nanoseconds < Self.firstBudget.nanoseconds + (now - start).nanoseconds / 50
    }

    private func search(_ interpreter: PythonInterpreter, at now: MonotonicTime) {
        let start = MonotonicTime.now
        defer {
            searching = searching + max(.zero, .now - start)
            nextSearch = now + Self.firstPause
        }
        if !isChecked { isChecked = interpreter.check(memory) == true }
        guard isChecked else { return }
        let threads = interpreter.threads(memory)
        let ids = threads.first(where: \.isMain).map {
            PthreadIDs(pid: pid, main: $0.pthread, memory.memory)
        }
        states.removeAll(keepingCapacity: true)
        for thread in threads {
            let known = thread.kernelID.flatMap { Int32(exactly: $0) }
            guard let tid = known ?? (thread.isMain ? pid : ids?.tid(of: thread.pthread)) else {
                continue
            }
            states[tid] = ThreadState(
                address: thread.state, id: thread.kernelID ?? thread.pthread)
            others[tid] = nil
        }
    }

    func forget(_ tid: Int32) {
        states[tid] = nil
        others[tid] = nil
        reads[tid] = nil
    }

    // MARK: Copies

    /// What a thread that does not run has by now.
    func copy(of tid: Int32, at now: MonotonicTime) -> RuntimeCopy? {
        guard let interpreter, let state = state(of: tid, at: now) else { return nil }
        return checked(
            FrameListReader(interpreter.layout).read(thread: state, memory), of: tid)
    }

    /// A copy, if it is the thread's: its state may have gone, and another's may be there.
    ///
    /// - Parameter taken: when it was made; nil: just now.
    func checked(
        _ copy: RuntimeCopy?, of tid: Int32, at taken: MonotonicTime? = nil
    ) -> RuntimeCopy? {
        guard var copy, !copy.lacksNewest else { return copy }
        // What is read beyond the copy has not changed since, or is not taken.
        let time = copy.rest == 0 ? taken ?? .now : .now
        if let id = copy.threadID, id != states[tid]?.id {
            forget(tid)
            return nil
        }
        if copy.rest != 0, let layout = interpreter?.layout {
            copy = FrameListReader(layout).continuing(copy, memory)
        }
        reads[tid] = Look(copy: copy, time: time)
        return copy
    }

    // MARK: Names

    private var naming: CodeNaming?

    /// What a copy's frames refer to, as far as it was not told before.
    func newNames(in copy: RuntimeCopy) -> InterpretedNames? {
        guard let interpreter else { return nil }
        // Nobody else has it meanwhile: else it would be copied.
        var naming = naming.take() ?? CodeNaming(interpreter)
        defer { self.naming = naming }
        return naming.newNames(in: copy, memory)
    }

    // MARK: Threads that run

    /// What threads had, the last time.
    private var reads: [Int32: Look] = [:]

    /// Before somebody sees its stack for the first time.
    func lookAhead(at tid: Int32, at now: MonotonicTime) {
        if interpreter != nil { _ = surroundings(of: tid, at: now) }
    }

    /// The last look at a thread; nil: there was none.
    func lastLook(at tid: Int32) -> Look? { reads[tid] }

    /// Between two looks at it, of which the second is the last.
    func surroundings(of tid: Int32, since before: Look?) -> Surroundings? {
        guard let interpreter, let before, let after = reads[tid] else { return nil }
        return Surroundings(before: before, after: after, list: interpreter.layout)
    }

    /// What a thread that runs had before its latest stacks were taken, and has now: they were taken
    /// without the interpreter's frames.
    func surroundings(of tid: Int32, at now: MonotonicTime) -> Surroundings? {
        guard let interpreter else { return nil }
        let before = reads.removeValue(forKey: tid)
        let start = MonotonicTime.now
        guard let state = state(of: tid, at: now),
            let after = checked(
                FrameListReader(interpreter.layout).readRunning(thread: state, memory), of: tid),
            let before
        else { return nil }
        return Surroundings(
            before: before, after: Look(copy: after, time: start), list: interpreter.layout)
    }
}
