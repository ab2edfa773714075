/// CPython's own functions that run script functions.
extension Function {
    /// Whether it calls the trampoline of a Python function (`-X perf`).
    var isTrampolineCaller: Bool { isNative("py_trampoline_evaluator") }

    /// Whether it is the interpreter's loop, where stacks still show it. Then the script functions
    /// that it ran are not known, or not all of them.
    var isInterpreterLoop: Bool { isNative("_PyEval_EvalFrameDefault") }

    /// Also true for a part or a variant of the function.
    private func isNative(_ function: String) -> Bool {
        guard language == .native, name.hasPrefix(function) else { return false }
        return [nil, " ", "."].contains(name.dropFirst(function.count).first)
    }
}
