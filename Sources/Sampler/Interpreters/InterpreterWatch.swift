import ProfileModel
import Runtimes
import System

/// What threads of a process do in its interpreter: their frames, and the names in these.
///
/// Nothing is asked of the program, and nothing that is read is believed without being checked.
final class InterpreterWatch {
    private let memory: ProcessMemory
    private var search: InterpreterSearch
    private var states: ThreadStateSearch
    /// The last look at each thread.
    private var looks: [Int32: Look] = [:]
    private var naming: CodeNaming?

    init(pid: Int32) {
        memory = ProcessMemory(pid: pid)
        search = InterpreterSearch(pid: pid, memory)
        states = ThreadStateSearch(pid: pid, memory)
    }

    // MARK: The interpreter

    /// nil: none was found yet.
    var interpreter: PythonInterpreter? { search.interpreter }

    /// - Parameter code: all code that is mapped by now.
    /// - Returns: an interpreter that was not known before.
    func saw(_ code: [CodeMapping], at now: MonotonicTime) -> FoundInterpreter? {
        search.saw(code, at: now)
    }

    /// Searches what is mapped once more, if that is due.
    ///
    /// - Returns: an interpreter that was not known before.
    func findAgain(at now: MonotonicTime) -> FoundInterpreter? { search.findAgain(at: now) }

    // MARK: Threads

    /// Where a thread's state is; nil: it has none, or that is not known yet.
    func state(of tid: Int32, at now: MonotonicTime) -> UInt64? {
        interpreter.flatMap { states.address(of: tid, in: $0, at: now) }
    }

    func forget(_ tid: Int32) {
        states.forget(tid)
        looks[tid] = nil
    }

    /// What a copy's frames refer to, as far as it was not told before.
    func newNames(in copy: RuntimeCopy) -> InterpretedNames? {
        guard let interpreter else { return nil }
        // Nobody else has it meanwhile: else it would be copied.
        var naming = naming.take() ?? CodeNaming(interpreter)
        defer { self.naming = naming }
        return naming.newNames(in: copy, memory)
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
        if let id = copy.threadID, id != states.known(of: tid)?.id {
            forget(tid)
            return nil
        }
        if copy.rest != 0, let layout = interpreter?.layout {
            copy = FrameListReader(layout).continuing(copy, memory)
        }
        looks[tid] = Look(copy: copy, time: time)
        return copy
    }

    // MARK: Threads that run

    /// Before somebody sees its stack for the first time.
    func lookAhead(at tid: Int32, at now: MonotonicTime) {
        if interpreter != nil { _ = surroundings(of: tid, at: now) }
    }

    /// The last look at a thread; nil: there was none.
    func lastLook(at tid: Int32) -> Look? { looks[tid] }

    /// Between two looks at it, of which the second is the last.
    func surroundings(of tid: Int32, since before: Look?) -> Surroundings? {
        guard let interpreter, let before, let after = looks[tid] else { return nil }
        return Surroundings(before: before, after: after, list: interpreter.layout)
    }

    /// What a thread that runs had before its latest stacks were taken, and has now: they were taken
    /// without the interpreter's frames.
    func surroundings(of tid: Int32, at now: MonotonicTime) -> Surroundings? {
        guard let interpreter else { return nil }
        let before = looks.removeValue(forKey: tid)
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
