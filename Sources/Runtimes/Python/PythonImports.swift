/// Shows imported modules in place of the frames that import them.
///
/// An import statement runs a handful of importlib's own functions, from `_find_and_load` to
/// `_call_with_frames_removed`, before the module's code.
package enum PythonImports {
    /// A frame's role in imports.
    package enum Role: Hashable, Sendable {
        /// It is not a Python frame.
        case native
        /// It belongs to the program or a library.
        case program
        /// It begins the import of a module, whose name is its first local variable.
        case begin
        /// It waits for another thread to import a module, whose name is its first local variable.
        case wait
        /// It takes the lock of a module that is being imported. If it waits there, another thread
        /// imports the module.
        case lock
        /// It runs a module's code, or makes C make or run a module.
        case load
        /// It calls the function that it was given.
        case call
        /// Another function of importlib.
        case other

        /// The role of a function, from its code's name and file.
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
        /// An unchanged frame, by its index.
        case frame(Int)
        /// The import of the module in the first local variable of this frame.
        case importing(Int)
        /// As `importing`, but another thread imports the module and this thread waits.
        case awaiting(Int)
    }

    /// The files of importlib. Programs call its other files directly.
    static let files: Set = [
        "<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>",
        "<frozen zipimport>",
    ]

    /// The steps of a merged stack, newest first. If importlib itself works, searching for a module
    /// or reading it, its frames stay, on top of the import's step.
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

    /// The end of a run of importlib's frames, with native ones between them.
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
            // The owner of the lock imports the module.
            steps[0] = .awaiting(first)
        } else if run.lowerBound == 0 || !isRunningModule(python.map { roles[$0] }) {
            steps.insert(contentsOf: (run.lowerBound..<first).map { .frame($0) }, at: 0)
        }
        return steps
    }

    /// True if the native frames on top of importlib's belong to the module: C that makes or runs
    /// it, or its library's constructors.
    private static func isRunningModule(_ python: [Role]) -> Bool {
        python.starts(with: [.call, .load])
    }
}
