import ProfileModel

/// A thread that an interpreter knows.
package struct PythonThread: Hashable, Sendable {
    /// The address of its state.
    package var state: UInt64
    /// Its kernel id; nil: the interpreter does not know it (3.10 and older).
    package var kernelID: UInt64?
    /// Its pthread id: for glibc, the address that the register `fs` points to.
    package var pthread: UInt64
    /// True for the thread that started the interpreter.
    package var isMain: Bool
}

extension PythonInterpreter {
    /// All threads that have a state now. Empty: the interpreter has not begun, or has ended.
    package func threads(_ memory: any RuntimeMemory) -> [PythonThread] {
        let places = offsets.runtime
        guard let main = memory.word(at: runtime.advanced(by: places.mainThread)),
            var interpreter = memory.word(at: runtime.advanced(by: places.interpreters))
        else { return [] }
        var (found, seen) = ([PythonThread](), Set<UInt64>())
        while interpreter.mayBeObject, seen.count < Self.mostInterpreters,
            seen.insert(interpreter).inserted
        {
            append(threadsOf: interpreter, main: main, to: &found, memory)
            guard let next = memory.word(at: interpreter.advanced(by: places.nextInterpreter))
            else { break }
            interpreter = next
        }
        return found
    }

    /// True if threads' states contain kernel ids; otherwise they contain pthread ids.
    private var knowsKernelIDs: Bool { version.minor >= 11 }

    private static var mostInterpreters: Int { 256 }
    private static var mostThreads: Int { 4096 }

    private func append(
        threadsOf interpreter: UInt64, main: UInt64, to found: inout [PythonThread],
        _ memory: any RuntimeMemory
    ) {
        var seen = Set<UInt64>()
        var state = memory.word(at: interpreter.advanced(by: offsets.runtime.threads)) ?? 0
        while state.mayBeObject, found.count < Self.mostThreads, seen.insert(state).inserted {
            guard let bytes = memory.bytes(at: state, count: offsets.threadRead),
                bytes.word(at: offsets.thread.interpreter) == interpreter,
                let pthread = bytes.word(at: offsets.thread.pthread),
                let next = bytes.word(at: offsets.thread.next)
            else { return }
            found.append(
                PythonThread(
                    state: state,
                    kernelID: knowsKernelIDs ? layout.threadID.flatMap(bytes.word(at:)) : nil,
                    pthread: pthread, isMain: pthread == main))
            state = next
        }
    }
}
