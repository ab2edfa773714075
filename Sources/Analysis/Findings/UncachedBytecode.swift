import ProfileModel

/// The particulars of modules that were compiled in the launch.
package struct CompilationEvidence: Hashable, Sendable {
    /// The modules that samples show being compiled, the longest first.
    package var modules: [String]
    /// Whether samples show bytecode being written: the next launch may find it.
    package var wasWritten: Bool
    /// Whether an option (`-B`) keeps the interpreter from writing any.
    package var isDisabled: Bool
}

/// Imported modules are compiled on the main thread: their bytecode was not found.
struct UncachedBytecode: FindingRule {
    func findings(in search: inout FindingSearch) -> [Finding] {
        guard let scripts = ScriptPaths(search.profile) else { return [] }
        let work = Self.work(scripts, in: search)
        guard let range = work.windows.span, work.effort >= search.least,
            work.windows.length >= search.least, let heaviest = work.heaviest,
            let importer = search.importer(of: heaviest.step, ofLine: heaviest.line, scripts)
        else { return [] }
        search.claim(work.windows)
        return [
            Finding(
                subject: .uncachedBytecode(
                    CompilationEvidence(
                        modules: work.steps.map(search.moduleName), wasWritten: work.wasWritten,
                        isDisabled: Self.isDisabled(search.profile.program.arguments))),
                saving: work.windows.length, thread: search.mainThread(at: range.lowerBound),
                range: range, place: importer.place, stack: importer.stack)
        ]
    }

    private struct Work {
        var windows: TimeWindows
        var effort: TimeSpan
        /// The modules' imports, the longest compilation first.
        var steps: [FunctionID]
        var heaviest: (step: FunctionID, line: Int32)?
        var wasWritten: Bool
    }

    private static func work(_ scripts: ScriptPaths, in search: FindingSearch) -> Work {
        let profile = search.profile
        let roles = roles(scripts, of: profile)
        var ranges: [Range<TimeSpan>] = []
        var (effort, wasWritten) = (TimeSpan.zero, false)
        var bySteps: [FunctionID: TimeSpan] = [:]
        var byLine: [Int32: TimeSpan] = [:]
        profile.forEachPart(in: search.mainThread(in: search.rest)) { part in
            let role = roles[Int(profile.paths.path(ofLine: part.line))]
            if role == .writes { wasWritten = true }
            guard role == .compiles,
                let step = scripts.imports.function(
                    ofPath: profile.paths.path(ofLine: part.line), profile.frames)
            else { return }
            effort = effort + part.times.effort
            ranges.append(part.start..<part.end)
            bySteps[step] = (bySteps[step] ?? .zero) + part.times.wall
            byLine[part.line] = (byLine[part.line] ?? .zero) + part.times.wall
        }
        let line = byLine.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
        let heaviest = line.flatMap { line in
            scripts.imports.function(ofPath: profile.paths.path(ofLine: line), profile.frames)
                .map { ($0, line) }
        }
        let steps = bySteps.sorted {
            ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue)
        }
        return Work(
            windows: TimeWindows(ranges), effort: effort, steps: steps.map(\.key),
            heaviest: heaviest, wasWritten: wasWritten)
    }

    private enum Role { case none, compiles, writes }

    /// The compiler's functions: one of them is on each stack that compiles.
    private static let compilers: Set = [
        "Py_CompileStringObject", "_PyParser_ASTFromString", "_PyPegen_run_parser",
        "_PyAST_Compile",
        "PyAST_CompileObject",
    ]

    /// The role of each path; compilation by a module's own code does not count.
    private static func roles(_ scripts: ScriptPaths, of profile: Profile) -> [Role] {
        let functions = profile.frames.functions
        var roles: [Role] = []
        // Whether the innermost Python function is the import's own.
        var isImporting: [Bool] = []
        for path in profile.paths.paths {
            let function = functions[Int(path.function.rawValue)]
            let hasCaller = path.parent != PathTable.none
            let isBelow = hasCaller && isImporting[Int(path.parent)]
            let isOwnCode = scripts.isScript[Int(path.function.rawValue)]
            let isImportlib = isOwnCode && ScriptPaths.isImportlib(function)
            isImporting.append(function.isImport || isBelow && (!isOwnCode || isImportlib))
            guard isImporting[isImporting.count - 1] && !function.isImport else {
                roles.append(.none)
                continue
            }
            var role = hasCaller ? roles[Int(path.parent)] : .none
            if isImportlib, ["set_data", "_cache_bytecode"].contains(function.shortName) {
                role = .writes
            } else if isImportlib
                ? function.shortName == "source_to_code"
                : !isOwnCode && compilers.contains(function.name)
            {
                role = .compiles
            }
            roles.append(role)
        }
        return roles
    }

    /// Whether `-B` is among the interpreter's own options.
    static func isDisabled(_ arguments: [String]) -> Bool {
        var rest = arguments.dropFirst()
        while let option = rest.popFirst(), option.hasPrefix("-"), option.count > 1 {
            if option.hasPrefix("--") { continue }
            for letter in option.dropFirst() {
                if letter == "B" { return true }
                // The next argument is a program, or the option's value.
                if letter == "c" || letter == "m" { return false }
                if letter == "W" || letter == "X" {
                    if option.last == letter { _ = rest.popFirst() }
                    break
                }
            }
        }
        return false
    }
}

extension Function {
    /// The name without the classes around it.
    fileprivate var shortName: String {
        name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? name
    }
}
