import ProfileModel
import Runtimes
import Testing

/// Reads the stacks of a running Python, and compares them with its own account.
struct LiveReading {
    private let live: LivePython
    private let interpreter: PythonInterpreter
    private let reader: FrameListReader
    private var names: PythonNames

    init(_ live: LivePython, _ interpreter: PythonInterpreter) {
        (self.live, self.interpreter) = (live, interpreter)
        reader = FrameListReader(interpreter.layout)
        names = PythonNames(interpreter)
    }

    mutating func compare(_ stage: LivePython.Stage) {
        let context: Comment = "\(interpreter.version), \(stage.name)"
        let threads = interpreter.threads(live.memory)
        #expect(threads.count == stage.threads.count, context)
        #expect(threads.filter(\.isMain).map(\.pthread) == [stage.threads[0].pthread], context)
        for told in stage.threads {
            let thread = threads.first { $0.pthread == told.pthread }
            // Up to 3.10 the interpreter has no ids of the kernel's.
            let id = interpreter.version.minor < 11 ? nil : told.kernelID
            #expect(thread?.kernelID == id, context)
            guard let stack = thread.flatMap({ self.stack(of: $0, told) }) else {
                Issue.record("no stack: \(context)")
                continue
            }
            let frames = stack.activations.flatMap(\.frames)
            let read = frames.map {
                LivePython.Frame(
                    line: $0.line, name: $0.code?.qualifiedName ?? "?", file: $0.code?.file ?? "?")
            }
            #expect(read == told.frames, context)
            #expect(!stack.isCut, context)
            checkPlaces(stack, context)
            checkImports(frames, stage, isMain: told.pthread == stage.threads[0].pthread)
        }
    }

    private mutating func stack(
        of thread: PythonThread, _ told: LivePython.Thread
    ) -> PythonStack? {
        guard let short = reader.read(thread: thread.state, live.memory) else { return nil }
        #expect(short.addresses.count <= FrameListReader.usualLimit)
        let copy = reader.continuing(short, live.memory)
        #expect((short.rest == 0) == (copy == short))
        let whole = reader.read(
            thread: thread.state, live.memory, limit: FrameListReader.deepLimit)
        #expect(whole == copy)
        let memory = live.memory
        return PythonStack(copy, interpreter, stack: live.stack(of: told.kernelID)) {
            names.code(for: $0, memory)
        }
    }

    /// From 3.11 on, where each activation is on the native stack is known.
    private func checkPlaces(_ stack: PythonStack, _ context: Comment) {
        let places = stack.activations.compactMap(\.place)
        guard interpreter.version.minor >= 11 else {
            #expect(places.isEmpty, context)
            #expect(stack.activations.allSatisfy { $0.frames.count == 1 }, context)
            return
        }
        #expect(places.count == stack.activations.count, context)
        #expect(places == places.sorted() && Set(places).count == places.count, context)
    }

    private func checkImports(
        _ frames: [PythonStack.Frame], _ stage: LivePython.Stage, isMain: Bool
    ) {
        let steps = PythonImports.steps(frames.map { $0.code?.role ?? .program })
        let shown = steps.map { step in
            switch step {
            case .frame(let index): frames[index].code?.name ?? "?"
            case .importing(let index): "importing " + module(frames[index])
            case .awaiting(let index): "awaiting " + module(frames[index])
            }
        }
        if isMain, let expected = Self.importStages[stage.name] {
            #expect(shown == expected.split(separator: ", ").map(String.init))
        }
        if stage.name == "waiting", shown.contains("importing") {
            let rest = ["importing", "run", "_bootstrap_inner", "_bootstrap"]
            let first = ["<module>", "importing subject_package.slow"] + rest
            let second = ["awaiting subject_package.slow"] + rest
            #expect(shown == first || shown == second, "\(interpreter.version)")
        }
    }

    private func module(_ frame: PythonStack.Frame) -> String {
        names.text(at: frame.firstLocal, live.memory) ?? "?"
    }

    /// The main thread's stack with imports as steps, newest first.
    private static let importStages = [
        "class of a module":
            "block, Nested, <module>, importing subject_module, imports, main, <module>",
        "package": "block, <module>, importing subject_package, <module>, "
            + "importing subject_module, imports, main, <module>",
        "module": "block, <module>, importing subject_module, imports, main, <module>",
        "from a package":
            "block, <module>, importing subject_package.inner, imports, main, <module>",
        "by name": "block, <module>, importing subject_package.late, import_module, imports, "
            + "main, <module>",
        "finding": "block, find_spec, importing subject_missing, finding, main, <module>",
    ]
}
