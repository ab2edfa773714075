package import ProfileModel

extension Recording {
    /// False if functions were not looked up in all of its modules: its recorder was killed, or the
    /// search was stopped.
    package var isSymbolicated: Bool {
        guard !symbols.frames.isEmpty || !symbols.modules.isEmpty else { return false }
        return modules.indices.allSatisfy {
            symbols.modules[ModuleIndex($0)] != nil || Module.isRuntime(modules[$0].path)
        }
    }
}
