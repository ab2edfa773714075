/// Shows what is imported in the place of the frames that import it.
///
/// An import statement runs a handful of importlib's own functions, from `_find_and_load` to
/// `_call_with_frames_removed`, before the module's code.
package enum PythonImports {
    /// What a frame has to do with imports.
    package enum Role: Hashable, Sendable {
        /// It is no Python frame.
        case native
        /// The program's, or a library's.
        case program
        /// It begins the import of a module, whose name is its first local variable.
        case begin
        /// It waits until another thread has imported a module, whose name is its first local variable.
        case wait
        /// It takes the lock of a module that is being imported: by another thread, if it waits there.
        case lock
        /// It has a module's code run, or C make or run a module.
        case load
        /// It calls what it is told to call.
        case call
        /// Another one of importlib's.
        case other

        /// That of a function, by its code's.
        init(name: String, file: String) {
            self = PythonImports.files.contains(file) ? Self.named[name] ?? .other : .program
        }

        private static let named: [String: Role] = [
            "_find_and_load": .begin, "_lock_unlock_module": .wait, "acquire": .lock,
            "exec_module": .load, "create_module": .load, "_call_with_frames_removed": .call,
        ]

        var isImportlib: Bool { self != .native && self != .program }
    }

    package enum Step: Hashable, Sendable {
        /// A frame as it is, by its index.
        case frame(Int)
        /// The import of the module that the first local variable of this frame names.
        case importing(Int)
        /// The same, by another thread, for which this one waits.
        case awaiting(Int)
    }

    /// What importlib consists of. Its other files are called by programs themselves.
    static let files: Set = [
        "<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>",
        "<frozen zipimport>",
    ]

    /// The steps of a merged stack, newest first. Where importlib is at work itself, looking for a
    /// module or reading it, its frames stay, on top of the import's step.
    package static func steps(_ roles: [Role]) -> [Step] {
        var (steps, index) = ([Step](), 0)
        var isNewest = true
        while index < roles.count {
            guard roles[index].isImportlib else {
                if roles[index] == .program { isNewest = false }
                steps.append(.frame(index))
                index += 1
                continue
            }
            let run = index..<end(ofRunFrom: index, roles)
            steps += self.steps(ofRun: run, roles, isNewest: isNewest)
            (index, isNewest) = (run.upperBound, false)
        }
        return steps
    }

    /// Behind the last one of importlib's frames in a row, with native ones between them.
    private static func end(ofRunFrom start: Int, _ roles: [Role]) -> Int {
        var end = start
        for index in start..<roles.count {
            if roles[index] == .program { break }
            if roles[index].isImportlib { end = index + 1 }
        }
        return end
    }

    private static func steps(ofRun run: Range<Int>, _ roles: [Role], isNewest: Bool) -> [Step] {
        let python = run.filter { roles[$0] != .native }
        let begins = run.filter { roles[$0] == .begin || roles[$0] == .wait }
        guard let first = begins.first else { return run.map { .frame($0) } }
        var steps = begins.map { roles[$0] == .wait ? Step.awaiting($0) : .importing($0) }
        guard isNewest, roles[first] == .begin else { return steps }
        if roles[python[0]] == .lock {
            // Whoever has the lock imports the module.
            steps[0] = .awaiting(first)
        } else if run.lowerBound == 0 || !isRunningModule(python.map { roles[$0] }) {
            steps.insert(contentsOf: (run.lowerBound..<first).map { .frame($0) }, at: 0)
        }
        return steps
    }

    /// Whether what is native on top of importlib's frames is the module's: C that makes or runs it,
    /// its library's constructors.
    private static func isRunningModule(_ python: [Role]) -> Bool {
        python.starts(with: [.call, .load])
    }
}
