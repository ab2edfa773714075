/// A shared library that a process loaded, at start-up or by `dlopen`.
package struct LibraryLoad: Hashable, Sendable {
    /// As the dynamic linker names it.
    package var path: String
    /// When the dynamic linker took it up: at start-up together with all others, otherwise when
    /// the `dlopen` that loaded it began to map.
    package var start: MonotonicTime
    /// Until its `dlopen` was through, with its initialisers; nil where that cannot be told for
    /// one library alone: at start-up.
    package var wall: TimeSpan?
    /// What it takes of the address space, in bytes.
    package var size: Int64
    /// The path of the library or program that names it as needed; nil: it was asked for by a
    /// call, or that is not known.
    package var requestedBy: String?
    /// The stack of the `dlopen` that asked for it.
    package var caller: StackID?
    /// Whether it was there before `main`.
    package var isInitial: Bool
    /// The path of its file without symbolic links, as mappings (and so modules) name it; nil:
    /// not known. The recorder finds it out.
    package var file: String?
    /// By which child; nil: by the recorded process.
    package var child: ChildIndex?
    /// Whether another file that was loaded names a symbol that this library defines; nil: not
    /// known. Symbolication finds it out, from the files.
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

/// One run of a library's or the program's initialiser (`init`, `init_array`),
/// timed by the thread itself.
package struct InitializerRun: Hashable, Sendable {
    /// A stack of one frame: the function's first instruction.
    package var function: StackID
    package var thread: ThreadIndex
    package var start: MonotonicTime
    /// When it returned, or where it was last seen (``isComplete``).
    package var end: MonotonicTime
    /// CPU time of its thread meanwhile.
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

/// What the program itself, or somebody who asked for a mark, says about its time.
package struct Interval: Hashable, Sendable {
    package var name: String
    /// `launch` and `extended` are phases; all others are points of interest. Empty: a mark.
    package var category: String
    /// Empty where the program names none.
    package var subsystem: String
    /// The thread that began it.
    package var thread: ThreadIndex?
    package var start: MonotonicTime
    /// Its end, or where it was last known to last (``isComplete``).
    package var end: MonotonicTime
    package var isComplete: Bool
    /// In which child; nil: in the recorded process.
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

/// A point in the program's time, of the same origins as an ``Interval``.
package struct Signpost: Hashable, Sendable {
    package var name: String
    package var category: String
    package var subsystem: String
    package var thread: ThreadIndex?
    package var time: MonotonicTime
    /// In which child; nil: in the recorded process.
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

/// When the launch was over, and what said so.
package struct Readiness: Hashable, Sendable {
    package var time: MonotonicTime
    /// The condition that was met, in the words of `--until` (`listen:8080`, `notify` …).
    package var by: String

    package init(time: MonotonicTime, by: String) {
        self.time = time
        self.by = by
    }
}
