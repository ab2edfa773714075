import ProcessIO
import ProfileModel
import Runtimes
import System

/// The frames of a process's threads in its interpreter, and the names in these frames.
///
/// The program is asked nothing, and all that is read from it is checked.
final class InterpreterWatch {
    private let process: any ProcessAccess
    private let memory: ProcessMemory
    private var search: InterpreterSearch
    private var states: ThreadStateSearch
    /// By thread.
    private var looks: [Int32: Looks] = [:]
    private var naming: CodeNaming?

    init(of process: any ProcessAccess) {
        self.process = process
        memory = ProcessMemory(process.memory)
        search = InterpreterSearch(of: process, memory)
        states = ThreadStateSearch(of: process, memory)
    }

    // MARK: The interpreter

    /// nil: none was found yet.
    var interpreter: PythonInterpreter? { search.interpreter }

    /// - Parameter code: all code that is mapped now.
    /// - Returns: an interpreter that was not known before.
    func saw(_ code: [CodeMapping], at now: MonotonicTime) -> FoundInterpreter? {
        search.saw(code, at: now)
    }

    /// Searches the mapped files once more, if that is due.
    ///
    /// - Returns: an interpreter that was not known before.
    func findAgain(at now: MonotonicTime) -> FoundInterpreter? { search.findAgain(at: now) }

    // MARK: Threads

    /// The address of a thread's state; nil: it has none, or that is not known yet.
    func state(of tid: Int32, at now: MonotonicTime) -> UInt64? {
        interpreter.flatMap { states.address(of: tid, in: $0, at: now) }
    }

    func forget(_ tid: Int32) {
        states.forget(tid)
        looks[tid] = nil
    }

    /// The names that a copy's frames refer to, without those reported before.
    func newNames(in copy: RuntimeCopy) -> InterpretedNames? {
        guard let interpreter else { return nil }
        // Take it out of the property meanwhile: with a second reference, it would be copied.
        var naming = naming.take() ?? CodeNaming(interpreter)
        defer { self.naming = naming }
        return naming.newNames(in: copy, memory)
    }

    // MARK: Copies

    /// The frames of a thread that does not run.
    ///
    /// - Parameter ran: its CPU time, in nanoseconds.
    func copy(of tid: Int32, ran: Int64, at now: MonotonicTime) -> RuntimeCopy? {
        guard let interpreter, let state = state(of: tid, at: now) else { return nil }
        let start = process.now
        let copy = FrameListReader(interpreter.layout).read(thread: state, memory)
        return checked(copy, of: tid, ran: ran, at: start...max(start, process.now))
    }

    /// Returns a copy if it is the thread's: its state may be gone, and another thread's may have
    /// its place.
    ///
    /// - Parameters:
    ///   - ran: the thread's CPU time then, in nanoseconds.
    ///   - time: when it was made.
    func checked(
        _ copy: RuntimeCopy?, of tid: Int32, ran: Int64, at time: ClosedRange<MonotonicTime>
    ) -> RuntimeCopy? {
        guard var copy, !copy.lacksNewest else { return copy }
        guard isList(copy, of: tid) else { return nil }
        var time = time
        if copy.rest != 0, let layout = interpreter?.layout {
            // The rest of the list is taken only if the list has not changed since.
            copy = FrameListReader(layout).continuing(copy, memory)
            time = time.lowerBound...max(time.lowerBound, process.now)
        }
        looks[tid, default: Looks()].add(
            Look(copy: copy, time: time, ran: TimeSpan(nanoseconds: ran)))
        return copy
    }

    private func isList(_ copy: RuntimeCopy, of tid: Int32) -> Bool {
        guard let id = copy.threadID, id != states.known(of: tid)?.id else { return true }
        forget(tid)
        return false
    }

    // MARK: Threads that run

    /// Called each time after the thread's stacks were taken without the interpreter's frames.
    /// Stacks from before the first look have no frames.
    ///
    /// - Parameter ran: its CPU time, in nanoseconds.
    func look(at tid: Int32, ran: Int64, at now: MonotonicTime) {
        guard let interpreter, let state = state(of: tid, at: now) else { return }
        let start = process.now
        let copy = FrameListReader(interpreter.layout).look(at: state, memory)
        guard let copy, isList(copy, of: tid) else { return }
        looks[tid, default: Looks()].add(
            Look(copy: copy, time: start...max(start, process.now), ran: TimeSpan(nanoseconds: ran))
        )
    }

    /// The frames of a running thread at a moment between two looks at it.
    func frames(of tid: Int32, at time: MonotonicTime, on stack: StackCopy) -> RuntimeCopy? {
        guard let interpreter else { return nil }
        return looks[tid]?.frames(at: time, on: stack, interpreter.layout)
    }
}
