import ProfileModel

/// The facts about a profile's stacks that findings on interpreters' programs need.
struct ScriptPaths {
    let imports: ImportSteps
    /// Whether each function is one that an interpreter runs, and no step that represents an
    /// import.
    let isScript: [Bool]
    /// Whether each path contains any such function, or an import.
    let hasScript: [Bool]

    /// nil: the profile has no such functions.
    init?(_ profile: Profile) {
        let isRuntime = profile.modules.map { Module.isRuntime($0.path) }
        guard isRuntime.contains(true) else { return nil }
        let isOfRuntime = profile.frames.functions.map { function in
            function.moduleIndex.map { isRuntime.indices ~= $0.rawValue && isRuntime[$0.rawValue] }
                ?? false
        }
        isScript = zip(profile.frames.functions, isOfRuntime).map { $1 && !$0.isImport }
        imports = ImportSteps(profile.paths, profile.frames)
        var hasScript: [Bool] = []
        hasScript.reserveCapacity(profile.paths.paths.count)
        for path in profile.paths.paths {
            let isBelow = path.parent != PathTable.none && hasScript[Int(path.parent)]
            hasScript.append(isBelow || isOfRuntime[Int(path.function.rawValue)])
        }
        self.hasScript = hasScript
    }

    /// The frames of a stack that the interpreter runs.
    func interpreted(_ stack: ArraySlice<FrameID>, _ frames: FrameTable) -> [FrameID] {
        stack.filter { id in
            let function = frames[id].function
            return isScript[Int(function.rawValue)] || frames[function].isImport
        }
    }

    /// Importlib's own code, where it does work itself.
    static func isImportlib(_ function: Function) -> Bool {
        function.module.hasPrefix("<frozen importlib")
    }
}

extension FindingSearch {
    /// The frames that the interpreter runs in a line's stack, up to an import, and the frame that
    /// imports; nil: there is no such import.
    ///
    /// - Parameter step: the function that represents the import.
    func importer(
        of step: FunctionID, ofLine line: Int32, _ scripts: ScriptPaths
    ) -> (stack: [FrameID], place: FrameID)? {
        let whole = profile.stack(ofLine: line)
        let frames = profile.frames
        guard let index = whole.lastIndex(where: { frames[$0].function == step })
        else { return nil }
        let stack = scripts.interpreted(whole[...index], frames)
        let caller = stack.dropLast().last { scripts.isScript[Int(frames[$0].function.rawValue)] }
        return (stack, caller ?? whole[index])
    }

    /// The name of the module whose import the step represents.
    func moduleName(_ step: FunctionID) -> String {
        let name = profile.frames[step].name
        return name.lastIndex(of: " ").map { String(name[name.index(after: $0)...]) } ?? name
    }

    /// The start of the part of *Main* in which the interpreter's program runs; nil: there is none.
    var programStart: TimeSpan? {
        profile.phases.first { $0.whole != nil && $0.name == Phase.Names.program }?.start
    }
}

extension StateTimes {
    /// The thread's own time: time without a core is no fault of the program's.
    var effort: TimeSpan { running + blocked }
}
