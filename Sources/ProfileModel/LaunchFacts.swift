/// A shared library that a process loaded, at start-up or by `dlopen`.
package struct LibraryLoad: Hashable, Sendable {
    /// The path that the dynamic linker uses.
    package var path: String
    /// When the dynamic linker began to load it: at start-up together with all others, otherwise
    /// when the `dlopen` that loaded it began to map.
    package var start: MonotonicTime
    /// The time until its `dlopen` was done, including initialisers. nil if this is unknown for a
    /// single library: at start-up.
    package var wall: TimeSpan?
    /// How much of the address space it takes, in bytes.
    package var size: Int64
    /// The path of the library or program that lists it as needed; nil: a `dlopen` loaded it, or
    /// this is unknown.
    package var requestedBy: String?
    /// The stack of the `dlopen` that loaded it.
    package var caller: StackID?
    /// True if it was loaded before `main`.
    package var isInitial: Bool
    /// The path of its file without symbolic links, as in mappings (and so in modules); nil:
    /// unknown. The recorder resolves it.
    package var file: String?
    /// The child that loaded it; nil: the recorded process.
    package var child: ChildIndex?
    /// True if another loaded file refers to a symbol that this library defines; nil: unknown.
    /// Symbolication finds out from the files.
    package var isReferenced: Bool?

    package init(
        path: String, start: MonotonicTime, wall: TimeSpan? = nil, size: Int64,
        requestedBy: String? = nil, caller: StackID? = nil, isInitial: Bool, file: String? = nil,
        child: ChildIndex? = nil, isReferenced: Bool? = nil
    ) {
        self.child = child
        self.isReferenced = isReferenced
        self.path = path
        self.start = start
        self.wall = wall
        self.size = size
        self.requestedBy = requestedBy
        self.caller = caller
        self.isInitial = isInitial
        self.file = file
    }
}

/// One run of an initialiser (`init`, `init_array`) of a library or the program, timed by the
/// thread itself.
package struct InitializerRun: Hashable, Sendable {
    /// A stack of one frame: the function's first instruction.
    package var function: StackID
    package var thread: ThreadIndex
    package var start: MonotonicTime
    /// When it returned, or when it was last seen running (``isComplete``).
    package var end: MonotonicTime
    /// CPU time of its thread during the run.
    package var cpu: TimeSpan
    /// False: it never returned (exit, longjmp, exception, the recording's end).
    package var isComplete: Bool

    package init(
        function: StackID, thread: ThreadIndex, start: MonotonicTime, end: MonotonicTime,
        cpu: TimeSpan, isComplete: Bool
    ) {
        self.function = function
        self.thread = thread
        self.start = start
        self.end = end
        self.cpu = cpu
        self.isComplete = isComplete
    }
}

/// A span of time that the program itself, or a mark on request, names.
package struct Interval: Hashable, Sendable {
    package var name: String
    /// `launch` and `extended` are phases; all others are points of interest. Empty: a mark.
    package var category: String
    /// Empty if the program names none.
    package var subsystem: String
    /// The thread that began it.
    package var thread: ThreadIndex?
    package var start: MonotonicTime
    /// Its end, or the last time at which it was known to be in progress (``isComplete``).
    package var end: MonotonicTime
    package var isComplete: Bool
    /// The child that it belongs to; nil: the recorded process.
    package var child: ChildIndex?

    package init(
        name: String, category: String, subsystem: String = "", thread: ThreadIndex?,
        start: MonotonicTime, end: MonotonicTime, isComplete: Bool = true,
        child: ChildIndex? = nil
    ) {
        self.child = child
        self.name = name
        self.category = category
        self.subsystem = subsystem
        self.thread = thread
        self.start = start
        self.end = end
        self.isComplete = isComplete
    }
}

/// A point in the program's time, from the same sources as an ``Interval``.
package struct Signpost: Hashable, Sendable {
    package var name: String
    package var category: String
    package var subsystem: String
    package var thread: ThreadIndex?
    package var time: MonotonicTime
    /// The child that it belongs to; nil: the recorded process.
    package var child: ChildIndex?

    package init(
        name: String, category: String, subsystem: String = "", thread: ThreadIndex?,
        time: MonotonicTime, child: ChildIndex? = nil
    ) {
        self.child = child
        self.name = name
        self.category = category
        self.subsystem = subsystem
        self.thread = thread
        self.time = time
    }
}

/// When the launch was over, and the condition that was met.
package struct Readiness: Hashable, Sendable {
    package var time: MonotonicTime
    /// The condition in the words of `--until` (`listen:8080`, `notify` …).
    package var by: String

    package init(time: MonotonicTime, by: String) {
        self.time = time
        self.by = by
    }
}
