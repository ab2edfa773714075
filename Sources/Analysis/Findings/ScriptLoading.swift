import ProfileModel

/// An interpreter that loads files for scripts whose functions have no names here.
package enum ScriptLoader: String, Hashable, Sendable, CaseIterable {
    case perl, ruby, emacsLisp = "emacs-lisp", bash, zsh, r

    /// The beginnings of the file names of the interpreter and its library.
    private var modules: [String] {
        switch self {
        case .perl: ["perl", "libperl.so"]
        case .ruby: ["ruby", "libruby"]
        case .emacsLisp: ["emacs", "startup-", "mule-"]
        case .bash: ["bash"]
        case .zsh: ["zsh"]
        case .r: ["libR.so"]
        }
    }

    /// The interpreter's functions that load and run a file.
    private var functions: Set<String> {
        switch self {
        case .perl:
            [
                "Perl_utilize", "Perl_pp_require", "Perl_require_pv", "Perl_load_module",
                "Perl_vload_module",
            ]
        case .ruby:
            [
                "rb_require_string", "rb_require", "rb_f_require", "rb_f_require_relative",
                "rb_autoload_load",
            ]
        case .emacsLisp: ["command-line", "load-with-code-conversion"]
        case .bash: ["maybe_execute_file", "source_file"]
        case .zsh: ["run_init_scripts", "source", "sourcehome"]
        // These functions load R's base packages and profiles.
        case .r: ["setup_Rmainloop"]
        }
    }

    private static let byFunction = Dictionary(
        allCases.flatMap { loader in loader.functions.map { ($0, loader) } },
        uniquingKeysWith: { first, _ in first })

    fileprivate init?(_ function: Function) {
        guard let loader = Self.byFunction[function.name],
            loader.modules.contains(where: function.module.hasPrefix)
        else { return nil }
        self = loader
    }
}

/// An interpreter spends a large part of the launch loading files that a script asks for, or that
/// it reads at each start. The interpreter's own profiler can name the files.
struct ScriptLoading: FindingRule {
    /// The least share of the launch, up to readiness.
    private static let leastShare = 0.25
    /// The cost that every start pays is no finding.
    private static let leastEffort = TimeSpan.milliseconds(50)

    func findings(in search: inout FindingSearch) -> [Finding] {
        let profile = search.profile
        guard !profile.header.isAttached,
            !profile.frames.functions.contains(where: \.isScripted),
            profile.frames.functions.contains(where: { ScriptLoader($0) != nil })
        else { return [] }
        let isInside = Self.pathsInside(profile)
        var ranges: [Range<TimeSpan>] = []
        profile.forEachPart(in: search.mainThread(in: search.rest)) { part in
            guard isInside[Int(profile.paths.path(ofLine: part.line))] else { return }
            ranges.append(part.start..<part.end)
        }
        let windows = TimeWindows(ranges)
        let least = TimeSpan(nanoseconds: Int64(Double(search.end.nanoseconds) * Self.leastShare))
        guard let range = windows.span,
            search.effort(in: windows) >= max(least, Self.leastEffort, search.least)
        else { return [] }
        let stack = profile.heaviestStack(search.mainThread(in: windows), weight: .wall)
            .entries.map(\.frame)
        guard let place = stack.first(where: { Self.loader($0, profile) != nil }),
            let loader = Self.loader(place, profile)
        else { return [] }
        search.claim(windows)
        return [
            Finding(
                subject: .scriptLoading(loader), saving: windows.length,
                thread: search.mainThread(at: range.lowerBound), range: range, place: place,
                stack: stack)
        ]
    }

    private static func loader(_ frame: FrameID, _ profile: Profile) -> ScriptLoader? {
        ScriptLoader(profile.frames.function(of: frame))
    }

    /// For each path, whether it contains a function that loads.
    private static func pathsInside(_ profile: Profile) -> [Bool] {
        let paths = profile.paths.paths
        var isInside = [Bool](repeating: false, count: paths.count)
        for (index, path) in paths.enumerated() {
            // Callers precede callees.
            isInside[index] =
                path.parent != PathTable.none && isInside[Int(path.parent)]
                || ScriptLoader(profile.frames[path.function]) != nil
        }
        return isInside
    }
}
