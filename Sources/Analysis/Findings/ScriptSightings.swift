import ProfileModel

/// When samples last show code of each file at work.
struct ScriptSightings {
    /// When samples show the main thread in functions of the program's part, without imports, and
    /// for how long from then on.
    private var work: [(start: TimeSpan, left: TimeSpan)] = []
    /// Scripts and native modules, by path.
    private var last: [String: TimeSpan] = [:]

    init(_ scripts: ScriptPaths, in search: FindingSearch, from program: TimeSpan) {
        let profile = search.profile
        let (paths, frames) = (profile.paths, profile.frames)
        var byLine = [TimeSpan?](repeating: nil, count: paths.lines.count)
        let isEnding = Self.endings(profile)
        for part in profile.parts where profile.threads[Int(part.thread)].child == nil {
            let line = Int(part.line)
            let path = Int(paths.path(ofLine: part.line))
            guard !isEnding[path] else { continue }
            byLine[line] = max(byLine[line] ?? part.start, part.start)
            if part.start >= program, part.start < search.end, scripts.hasScript[path],
                scripts.imports.step(of: paths.path(ofLine: part.line)) == ImportSteps.none,
                search.isMain(Int(part.thread), at: part.start)
            {
                work.append((part.start, part.times.effort))
            }
        }
        work.sort { $0.start < $1.start }
        for index in work.indices.dropLast().reversed() {
            work[index].left = work[index].left + work[index + 1].left
        }
        // Callees come after their callers: going backwards, each line is complete when it is
        // reached.
        for line in byLine.indices.reversed() {
            guard let time = byLine[line] else { continue }
            let entry = paths.lines[line]
            let frame = frames[paths.sites[Int(entry.site)].frame]
            if let file = scripts.isScript[Int(frame.function.rawValue)]
                ? frame.file : Self.nativeFile(frame, profile)
            {
                last[file] = max(last[file] ?? time, time)
            }
            if entry.parent != PathTable.none {
                let parent = Int(entry.parent)
                byLine[parent] = max(byLine[parent] ?? time, time)
            }
        }
    }

    /// For each path, whether it is part of the interpreter's shutdown: cleaning up a module is no
    /// use of it.
    private static func endings(_ profile: Profile) -> [Bool] {
        let names: Set = [
            "Py_FinalizeEx", "Py_Finalize", "Py_EndInterpreter", "__run_exit_handlers", "_dl_fini",
        ]
        let isEnd = profile.frames.functions.map { names.contains($0.name) }
        var result: [Bool] = []
        result.reserveCapacity(profile.paths.paths.count)
        for path in profile.paths.paths {
            let isBelow = path.parent != PathTable.none && result[Int(path.parent)]
            result.append(isBelow || isEnd[Int(path.function.rawValue)])
        }
        return result
    }

    private static func nativeFile(_ frame: Frame, _ profile: Profile) -> String? {
        guard let index = profile.frames[frame.function].moduleIndex?.rawValue,
            profile.modules.indices ~= index, !Module.isRuntime(profile.modules[index].path)
        else { return nil }
        return profile.modules[index].path
    }

    /// For how long after a time samples show the main thread in functions of the program's part,
    /// without imports.
    func worked(since time: TimeSpan) -> TimeSpan {
        let first = work.partitionIndex { $0.start >= time }
        return first < work.count ? work[first].left : .zero
    }

    /// Whether samples show code of the module, but none after a time.
    func isUnused(_ module: String, since time: TimeSpan) -> Bool {
        let seen = files(of: module)
        return !seen.isEmpty && seen.allSatisfy { $0.value < time }
    }

    func isUsed(_ module: String, since time: TimeSpan) -> Bool {
        files(of: module).contains { $0.value >= time }
    }

    /// Whether it lies among packages that a user has installed.
    func isInstalled(_ module: String) -> Bool {
        files(of: module).contains { ScriptPath($0.key).isInstalled }
    }

    /// `a.b` is in `a/b.py`, or anywhere in `a/b/`.
    private func files(of module: String) -> [String: TimeSpan] {
        let place = "/" + module.split(separator: ".").joined(separator: "/")
        let own = last.filter { file, _ in
            ("/" + file).contains(place + "/") || ("/" + file).contains(place + ".")
        }
        guard own.keys.contains(where: { $0.hasSuffix(".so") }) else { return own }
        // mypyc puts the code of all modules that it compiles into one library beside them.
        return own.merging(last.filter { $0.key.contains("__mypyc.") }) { one, _ in one }
    }
}
