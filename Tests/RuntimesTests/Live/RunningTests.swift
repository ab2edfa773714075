import Glibc
import ProfileModel
import Runtimes
import TestSupport
import Testing

/// Stacks of a program that is stopped at any moment, in the middle of a call, too.
@Suite(.serialized, .enabled(if: Pythons.areThere, "there is no Python"))
struct RunningTests {
    private static let program =
        "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        + "/Python/Subject/busy.py"

    /// Of each function, those that call it; "": it is the outermost one.
    private static let callers: [String: Set<String>] = [
        "leaf": ["values", "<lambda>"], "values": ["both"], "<lambda>": ["both"],
        "both": ["__init__"], "__init__": ["things", "<listcomp>"], "<listcomp>": ["things"],
        "things": ["main", "<module>"], "main": ["<module>"], "<module>": ["main", ""],
    ]

    @Test(arguments: Pythons.all)
    func `stacks are possible at any moment`(_ python: String) throws {
        let live = try LivePython(python, [Self.program])
        #expect(live.line() == "on")
        guard let interpreter = live.interpreter() else { return }
        var names = PythonNames(interpreter)
        var numbers = SeededNumbers(seed: 6)
        var (read, depths) = (0, Set<Int>())
        for _ in 0..<Self.moments {
            live.run(forMicroseconds: Int.random(in: 20..<500, using: &numbers))
            live.stop()
            defer { kill(live.pid, SIGCONT) }
            guard let stack = Self.stack(of: live, interpreter, &names) else { continue }
            let functions = stack.activations.flatMap(\.frames).map { $0.code?.name ?? "?" }
            // 3.11 announces a native frame before it writes there which frame it runs.
            guard !functions.isEmpty, functions.first != "?" else { continue }
            read += 1
            depths.insert(functions.count)
            for (function, caller) in zip(functions, functions.dropFirst() + [""]) {
                let isPossible = Self.callers[function]?.contains(caller) == true
                #expect(isPossible, "\(interpreter.version): \(functions)")
            }
            #expect(!stack.isCut)
        }
        // Few are taken between two writes of the interpreter that belong together.
        #expect(read >= Self.moments * 9 / 10)
        #expect(depths.count >= 3)
    }

    private static let moments = 100

    private static func stack(
        of live: LivePython, _ interpreter: PythonInterpreter, _ names: inout PythonNames
    ) -> PythonStack? {
        let (memory, none) = (live.memory, StackCopy(start: 0, bytes: []))
        return interpreter.threads(memory).first
            .flatMap { FrameListReader(interpreter.layout).read(thread: $0.state, memory) }
            .flatMap { PythonStack($0, interpreter, stack: none) { names.code(for: $0, memory) } }
    }
}

extension LivePython {
    /// Waits until it has had that much of a processor's time, whichever other programs want it.
    func run(forMicroseconds span: Int) {
        let end = processorTime &+ span * 1000
        while processorTime < end { sched_yield() }
    }

    /// In nanoseconds.
    private var processorTime: Int {
        var (clock, time) = (clockid_t(), timespec())
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else {
            return .max
        }
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// Stops all its threads.
    func stop() {
        kill(pid, SIGSTOP)
        var status: Int32 = 0
        while waitpid(pid, &status, WUNTRACED) < 0, errno == EINTR {}
    }
}
