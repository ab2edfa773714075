import Analysis

/// A language whose interpreter Firstlight cannot read. Its functions have no names here, but the
/// language's own profiler can show them.
struct UnnamedLanguage {
    var name: String
    /// A command, an option or a library.
    var profiler: String

    var hint: String { "\(name) runs here, its functions have no names: \(profiler) has them." }

    /// - Parameters:
    ///   - module: the last component of the interpreter's path, or of its library's.
    ///   - profile: if it has named functions of a script, no hint is needed.
    init?(module: String, in profile: Profile) {
        guard !profile.frames.functions.contains(where: \.isScripted) else { return nil }
        self.init(module: module)
    }

    init?(module: String) {
        guard let known = Self.known.first(where: { $0.isRun(by: module) }) else { return nil }
        (name, profiler) = (known.name, known.profiler)
    }

    private struct Known {
        var name: String
        var profiler: String
        var programs: [String]
        var library: String?

        /// Matches `perl5.36` as well as `perl`.
        func isRun(by module: String) -> Bool {
            let program = module.prefix { $0.isLetter }
            let version = module.dropFirst(program.count)
            let isProgram = version.allSatisfy { $0.isNumber || $0 == "." || $0 == "-" }
            return isProgram && programs.contains(String(program)) || programs.contains(module)
                || library.map(module.hasPrefix) == true
        }
    }

    private static let known = [
        Known(
            name: "Perl", profiler: "Devel::NYTProf (perl -d:NYTProf)", programs: ["perl"],
            library: "libperl.so"),
        Known(
            name: "Ruby", profiler: "stackprof or rbspy", programs: ["ruby"], library: "libruby"),
        Known(name: "JavaScript", profiler: "record --runtime node", programs: ["node", "nodejs"]),
        Known(
            name: "Java", profiler: "async-profiler", programs: ["java", "javac"],
            library: "libjvm.so"),
        Known(name: "zsh", profiler: "zprof (zmodload zsh/zprof)", programs: ["zsh"]),
        Known(name: "PHP", profiler: "Excimer or Xdebug", programs: ["php"], library: "libphp"),
        Known(name: "Guile", profiler: "statprof", programs: ["guile"], library: "libguile-"),
        Known(name: "R", profiler: "Rprof", programs: ["R"], library: "libR.so"),
        Known(
            name: "Emacs Lisp", profiler: "Emacs's own (M-x profiler-start)",
            programs: ["emacs", "emacs-nox", "emacs-gtk", "emacs-lucid"]),
    ]
}
