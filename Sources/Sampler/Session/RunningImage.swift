import ProfileModel

/// What is known of the program that a process runs, and what we changed in it. It goes when the
/// next program takes the process over.
final class RunningImage {
    /// When it began, or was found.
    let start: MonotonicTime
    /// Its file, as the kernel or its first argument names it.
    var path: String
    var arguments: [String]
    /// What tells where its code is when it is over before its mappings could be read.
    var noted: NotedLibrary?
    /// nil: the program is static, or its linker does not tell.
    var libraries: LibraryList?
    /// The last change of its mappings after which the linker's list was looked at.
    var listedChange: MonotonicTime?
    /// How it is followed from outside; nil: ptrace has its threads.
    var untraced: UntracedProcess?
    /// Whether its threads may be stopped for a sample; else what only a stop could tell is not known.
    var mayBeTraced = true
    /// Our code in it; nil: it is not there, or not yet.
    var instrumentation: Instrumentation?
    /// A thread is on its way with it; nil: none was led away, or it is there.
    var entry: PendingEntry?
    /// Where a piece of our code stands for a moment.
    var cave: FilledCave?

    init(start: MonotonicTime, path: String = "", arguments: [String] = []) {
        self.start = start
        self.path = path
        self.arguments = arguments
    }
}

/// A cave with a piece of our code in it.
struct FilledCave {
    let address: UInt64
    /// What was there.
    let before: [UInt8]
}
