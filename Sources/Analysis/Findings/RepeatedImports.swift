import ProfileModel

/// The particulars of imports that a function does again and again.
package struct RepeatedImportEvidence: Hashable, Sendable {
    /// The modules, as far as stacks name them: stacks do not show a module that is imported
    /// already.
    package var modules: [String]
    /// How often stacks show the function importing, with other work in between.
    package var count: Int
}

/// A function of the program imports at each call.
struct RepeatedImports: FindingRule {
    /// With fewer, the samples may be parts of one import.
    private static let leastCount = 3

    /// The importing function, and the import; nil: a module that is imported already.
    private struct Key: Hashable {
        var caller: FunctionID
        var step: FunctionID?

        var order: Int32 { step?.rawValue ?? PathTable.none }
    }

    private struct Sum {
        var count = 0
        var effort = TimeSpan.zero
        var ranges: [Range<TimeSpan>] = []
        var byLine: [Int32: TimeSpan] = [:]
    }

    func findings(in search: inout FindingSearch) -> [Finding] {
        guard let scripts = ScriptPaths(search.profile), let start = search.programStart
        else { return [] }
        let sums = Self.sums(scripts, in: search, from: start).filter {
            $0.value.count >= Self.leastCount
        }
        let callers = Set(sums.keys.map(\.caller)).sorted { $0.rawValue < $1.rawValue }
        var found: [Finding] = []
        for caller in callers {
            let own = sums.filter { $0.key.caller == caller }
                .sorted { $0.key.order < $1.key.order }
            if let finding = Self.finding(own.map { ($0.key, $0.value) }, caller, scripts, &search)
            {
                found.append(finding)
            }
        }
        return found
    }

    private static func finding(
        _ sums: [(key: Key, sum: Sum)], _ caller: FunctionID, _ scripts: ScriptPaths,
        _ search: inout FindingSearch
    ) -> Finding? {
        let windows = search.unclaimed(TimeWindows(sums.flatMap(\.sum.ranges)))
        let effort = sums.reduce(TimeSpan.zero) { $0 + $1.sum.effort }
        let heaviest = sums.flatMap(\.sum.byLine).max {
            ($0.value, $1.key) < ($1.value, $0.key)
        }
        guard effort >= search.least, windows.length >= search.least, let range = windows.span,
            let line = heaviest?.key
        else { return nil }
        let whole = search.profile.stack(ofLine: line)
        let frames = search.profile.frames
        guard let index = whole.lastIndex(where: { frames[$0].function == caller }) else {
            return nil
        }
        search.claim(windows)
        return Finding(
            subject: .repeatedImports(
                RepeatedImportEvidence(
                    modules: sums.compactMap(\.key.step).map(search.moduleName),
                    count: sums.reduce(0) { $0 + $1.sum.count })),
            saving: windows.length, thread: search.mainThread(at: range.lowerBound), range: range,
            place: whole[index], stack: scripts.interpreted(whole[...index], frames))
    }

    /// The imports that each function does itself, in the program's part of the launch.
    private static func sums(
        _ scripts: ScriptPaths, in search: FindingSearch, from start: TimeSpan
    ) -> [Key: Sum] {
        let profile = search.profile
        let keys = keys(scripts, of: profile)
        var parts: [Profile.Part] = []
        let windows = TimeWindows([search.window(from: start, to: search.end)])
        profile.forEachPart(in: search.mainThread(in: windows)) { parts.append($0) }
        parts.sort { $0.start < $1.start }
        var sums: [Key: Sum] = [:]
        var last: Key?
        for part in parts {
            let path = Int(profile.paths.path(ofLine: part.line))
            // A part whose stack cannot be read may belong to the same import.
            guard scripts.hasScript[path] else { continue }
            let key = keys[path]
            defer { last = key }
            guard let key else { continue }
            var sum = sums.removeValue(forKey: key) ?? Sum()
            if last != key { sum.count += 1 }
            sum.effort = sum.effort + part.times.effort
            sum.ranges.append(part.start..<part.end)
            sum.byLine[part.line] = (sum.byLine[part.line] ?? .zero) + part.times.wall
            sums[key] = sum
        }
        return sums
    }

    /// The functions that an import statement calls first; for a module that is imported already,
    /// it calls only these.
    private static let statements: Set = [
        "PyImport_ImportModuleLevelObject", "PyImport_ImportModuleLevel", "import_name",
        "_PyEval_ImportName", "import_from", "_PyEval_ImportFrom",
    ]

    /// The outermost import on each path that a function makes, not a module's top level.
    private static func keys(_ scripts: ScriptPaths, of profile: Profile) -> [Key?] {
        let functions = profile.frames.functions
        var keys: [Key?] = []
        var callers: [FunctionID?] = []
        for path in profile.paths.paths {
            let function = functions[Int(path.function.rawValue)]
            let hasCaller = path.parent != PathTable.none
            var key = hasCaller ? keys[Int(path.parent)] : nil
            var caller = hasCaller ? callers[Int(path.parent)] : nil
            if let known = key {
                if known.step == nil, function.isImport { key?.step = path.function }
            } else if scripts.isScript[Int(path.function.rawValue)],
                !ScriptPaths.isImportlib(function)
            {
                caller = function.name == "<module>" ? nil : path.function
            } else if let caller, function.isImport || isStatement(function),
                !hasCaller || scripts.imports.step(of: path.parent) == ImportSteps.none
            {
                key = Key(caller: caller, step: function.isImport ? path.function : nil)
            }
            keys.append(key)
            callers.append(caller)
        }
        return keys
    }

    private static func isStatement(_ function: Function) -> Bool {
        statements.contains(function.name)
            || ScriptPaths.isImportlib(function) && function.name == "_handle_fromlist"
    }
}
