import Agent
import ProfileModel

/// The program that a process runs, and our changes in it. This is dropped when the next program
/// takes over the process.
final class RunningImage {
    /// When it began, or was found.
    let start: MonotonicTime
    /// Its file, as the kernel or its first argument names it.
    var path: String
    var arguments: [String]
    /// Shows where its code is if it is over before its mappings could be read.
    var noted: NotedLibrary?
    /// How its launch began; nil: it runs already.
    var opening: LaunchBorder?
    /// The program, where the dynamic linker was executed and asked to run it. nil: the program was
    /// executed itself, or the linker has not mapped it yet.
    var linked: LinkedProgram?
    /// nil: the program is static, or its linker does not report libraries.
    var libraries: LibraryList?
    /// Of the last change of its mappings.
    var listing: LibraryListing?
    /// How it is followed from outside; nil: ptrace has its threads.
    var untraced: ProcPoller?
    /// Whether its threads may be stopped for a sample. If not, facts that only a stop can show
    /// stay unknown.
    var mayBeTraced = true
    /// Whether any thread was found on a stack that neither a thread library nor the kernel made (a
    /// coroutine's, a virtual machine's). Any thread may be on such a stack when a signal comes,
    /// and the signal's frame would overwrite the memory below.
    var hasOtherStacks = false
    /// Our code in it; nil: not there, or not yet.
    var instrumentation: Instrumentation?
    /// A thread that is on its way with our code. nil: none was diverted, or the code is there.
    var entry: PendingEntry?
    /// A place where a piece of our code lies for a moment.
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
    /// The bytes that were there.
    let before: [UInt8]
}
