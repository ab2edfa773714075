package import ProfileModel
package import Runtimes

/// What the sampler observes, in the order of its occurrence.
package enum SamplerEvent: Sendable {
    /// The process is there, and under observation.
    case began(pid: Int32)
    case image(Image)
    case mark(Mark)
    /// The thread of the next index.
    case threadStarted(RecordedThread)
    case threadNamed(ThreadIndex, String)
    case threadEnded(ThreadIndex, MonotonicTime)
    /// All the code that is mapped from now on.
    case mappings([CodeMapping], MonotonicTime)
    /// The process runs an interpreter: from now on samples may have its frames.
    case interpreter(FoundInterpreter)
    /// What is in the frames of the samples to come.
    case named(InterpretedNames)
    case sample(Sample)
    /// One that is over, its stack being the one that the thread had in the sample before.
    case wait(Wait)
    case priority(Priority)
    case library(ObservedLibrary)
    case initializer(ObservedInitializer)
    case interval(Interval)
    case signpost(Signpost)
    case ready(Readiness)
    /// What the scheduler did since the last time, each thread's in order.
    case scheduled([SchedulerRecord])
}

/// What runs a process's code of another language.
package struct FoundInterpreter: Sendable {
    package var interpreter: PythonInterpreter
    /// The instructions of the function that runs such code, in the process; empty: not known.
    package var loop: Range<UInt64>
}

/// What an interpreter's frames refer to, read while it was there.
package struct InterpretedNames: Sendable {
    /// Code that was not met before.
    package var codes: [(key: PythonCodeKey, code: PythonCode)] = []
    /// The names of modules that are being imported, by where they lie: of the next sample alone.
    package var modules: [UInt64: String] = [:]

    var isEmpty: Bool { codes.isEmpty && modules.isEmpty }
}

/// A ``LibraryLoad`` whose stack is still to be unwound.
package struct ObservedLibrary: Sendable {
    /// Without its caller.
    package var load: LibraryLoad
    /// What the stack of its `dlopen` looked like.
    package var caller: Snapshot?
}

/// An ``InitializerRun`` whose function is still an address of the process.
package struct ObservedInitializer: Sendable {
    package var function: UInt64
    package var thread: ThreadIndex
    package var start: MonotonicTime
    package var end: MonotonicTime
    package var cpu: TimeSpan
    package var isComplete: Bool
}

/// Asks for a blocked thread's registers: its stack could not be unwound without them.
package struct StackRequest: Hashable, Sendable {
    package var thread: ThreadIndex
    package var blocking: UInt32

    package init(thread: ThreadIndex, blocking: UInt32) {
        self.thread = thread
        self.blocking = blocking
    }
}

/// Where the sampler's observations go. Called from the sampling thread, which must not be kept
/// waiting: an implementation queues, and drops stacks (never time) when it cannot.
package protocol SampleSink: AnyObject, Sendable {
    func receive(_ event: SamplerEvent)
    /// The requests since the last call.
    func takeRequests() -> [StackRequest]
    /// Whether the recording cannot go on (the file could not be written).
    var hasFailed: Bool { get }
}

/// Takes note of processes that an observed one starts. Called from the sampling thread.
package protocol ChildObserver: AnyObject, Sendable {
    /// Where its observations go; nil: it is let go.
    func began(_ pid: Int32, parent: Int32, at time: MonotonicTime) -> (any SampleSink)?
    func ended(_ pid: Int32, _ outcome: SamplerOutcome, at time: MonotonicTime)
}
