package import ProfileModel
package import Runtimes

/// An observation of the sampler. Observations come in the order in which they happened.
package enum SamplerEvent: Sendable {
    /// The process exists and is observed.
    case began(pid: Int32)
    case image(Image)
    /// The program that the dynamic linker, which is the last image, was asked to run.
    case linked(Image)
    case border(LaunchBorder)
    /// Starts the thread of the next index.
    case threadStarted(RecordedThread)
    case threadNamed(ThreadIndex, String)
    case threadEnded(ThreadIndex, MonotonicTime)
    /// All code that is mapped from now on.
    case mappings([CodeMapping], MonotonicTime)
    /// The process runs an interpreter: from now on, samples may have the interpreter's frames.
    case interpreter(FoundInterpreter)
    /// The names that the frames of later samples refer to.
    case named(InterpretedNames)
    case sample(Sample)
    /// A wait that has ended. Its stack is the one of the thread's previous sample.
    case wait(Wait)
    case priority(Priority)
    case library(ObservedLibrary)
    case initializer(ObservedInitializer)
    case interval(Interval)
    case signpost(Signpost)
    case ready(Readiness)
    /// The scheduler's records since the last such event, in order for each thread.
    case scheduled([SchedulerRecord])
}

/// The interpreter that runs a process's code of another language.
package struct FoundInterpreter: Sendable {
    package var interpreter: PythonInterpreter
    /// The instructions, in the process, of the function that runs such code; empty: unknown.
    package var loop: Range<UInt64>
}

/// The names that an interpreter's frames refer to, read while they were in memory.
package struct InterpretedNames: Sendable {
    /// Code seen for the first time.
    package var codes: [(key: PythonCodeKey, code: PythonCode)] = []
    /// The names of modules that are being imported, by their addresses: for the next sample alone.
    package var modules: [UInt64: String] = [:]

    var isEmpty: Bool { codes.isEmpty && modules.isEmpty }
}

/// A ``LibraryLoad`` whose stack must still be unwound.
package struct ObservedLibrary: Sendable {
    /// The load without its caller.
    package var load: LibraryLoad
    /// The stack at its `dlopen`.
    package var caller: Snapshot?
}

/// An ``InitializerRun`` whose function is still an address in the process.
package struct ObservedInitializer: Sendable {
    package var function: UInt64
    package var thread: ThreadIndex
    package var start: MonotonicTime
    package var end: MonotonicTime
    package var cpu: TimeSpan
    package var isComplete: Bool
}

/// A blocked thread's stack that could not be unwound without its registers: the sampler should stop the
/// thread for them, if it is still in that wait.
package struct StackRefinement: Hashable, Sendable {
    package var thread: ThreadIndex
    package var blocking: UInt32

    package init(thread: ThreadIndex, blocking: UInt32) {
        self.thread = thread
        self.blocking = blocking
    }
}

/// Receives the sampler's observations. Called from the sampling thread, which must not wait: an
/// implementation queues, and drops stacks (never time) when it cannot.
package protocol SampleSink: AnyObject, Sendable {
    func receive(_ event: SamplerEvent)
    /// The stacks to be refined that were found since the last call.
    func takeRefinements() -> [StackRefinement]
    /// True if the recording cannot go on (the file could not be written).
    var hasFailed: Bool { get }
}

/// Receives reports on the processes that an observed one starts. Called from the sampling thread.
package protocol ChildObserver: AnyObject, Sendable {
    /// The sink for the new process's observations; nil: the process is not observed.
    func began(_ pid: Int32, parent: Int32, at time: MonotonicTime) -> (any SampleSink)?
    func ended(_ pid: Int32, _ outcome: SamplerOutcome, at time: MonotonicTime)
}
