package import ProfileModel

/// What a session asks the kernel about its process and the time. All that a session's decisions
/// depend on is here, so that tests can replace it with made-up processes.
package protocol ProcessAccess: AnyObject {
    var pid: Int32 { get }

    // MARK: Time

    var now: MonotonicTime { get }
    func pause(microseconds: Int)
    /// True if somebody has asked us to end, and the request was not taken yet.
    var isToEnd: Bool { get }

    // MARK: Threads

    func thread(_ tid: Int32) -> any ThreadAccess
    func threadIDs() -> [Int32]
    func isThread(_ tid: Int32) -> Bool

    // MARK: The process as a whole

    func counters() -> ProcessCounters
    /// CPU time of all threads, and of the children that the process waited for; nil: it is gone.
    var cpuTime: TimeSpan? { get }
    var childrenCPU: TimeSpan? { get }
    /// Page faults of the children that the process has waited for: every child has some. 0: there was no
    /// such child, or the process is gone.
    var childrenFaults: Int64 { get }
    /// True if all threads have ended; nil: the process is gone.
    var isZombie: Bool? { get }
    /// True if the first thread has ended, or is about to.
    var isEnding: Bool { get }
    /// True if another process shares the memory (vfork, clone with CLONE_VM). It may execute any
    /// code in it.
    var sharesMemory: Bool { get }
    /// The id of the thread that traces one of its threads; 0: nobody does; nil: the thread is gone.
    func tracer(of tid: Int32) -> Int32?
    /// True if the process's ids are the same for us.
    var sharesNamespaceWithUs: Bool { get }
    /// nil: it is gone.
    var status: ProcessStatus? { get }
    /// True if its clocks are not ours (a time namespace).
    var hasOtherClocks: Bool { get }
    /// How it knows its threads and children.
    var innerNames: InnerNames { get }
    /// Throws if we may not read the process's memory, and so cannot watch it at all.
    func checkPermission() throws(SystemError)

    // MARK: Its program

    func image(at time: MonotonicTime) -> Image
    /// True if the kernel denied the program the privileges of its file, because it is traced.
    var lacksPrivileges: Bool { get }
    /// False if the process has no memory of a program: then it is about to end.
    var hasProgram: Bool { get }
    /// Where the first thread's stack begins, and how far it may grow, in bytes.
    var stackStart: UInt64 { get }
    var stackLimit: UInt64 { get }
    /// What its limits allow it, in bytes; `UInt64.max`: as much as there is.
    var fileSizeLimit: UInt64 { get }
    var addressSpaceLimit: UInt64 { get }
    /// True if any of the addresses was ever used, as far as can be known.
    func hasUsed(_ range: Range<UInt64>) -> Bool
    /// Its memory, as it is at each read.
    var memory: TargetMemory { get }
    /// What the kernel told the program at its beginning.
    var vector: AuxiliaryVector { get }
    /// For looks at what is mapped, again and again.
    func addressSpace() -> any AddressSpace
    /// True if the program itself may bring pages that are missing (userfaultfd(2)).
    var servesPages: Bool { get }
    /// Where the guard that is nearest below an address ends, if it is one without a mapping of its own
    /// (MADV_GUARD_INSTALL); nil: there is none from `start` on, or the kernel does not tell (before
    /// Linux 6.15).
    func guardEnd(below address: UInt64, downTo start: UInt64) -> UInt64?
    /// The program that runs now, seen from outside.
    func runningProgram() -> any ProgramAccess

    // MARK: Its files

    /// Its descriptors that lead to a file.
    func descriptors(of path: String) -> [Int32]
    /// Opens the file that a descriptor leads to once more, as `open` does it with a path; negative: that
    /// cannot be had, or leaves too few descriptors.
    func open(_ descriptor: Int32, by open: (_ path: String) -> Int32) -> Int32
    /// True if one of its descriptors leads to the same file as one of ours. Any of its threads may put
    /// another file there, so the answer is certain only while none of them runs.
    func shares(_ own: Int32, as descriptor: Int32) -> Bool
    /// Where a descriptor leads to, by its link; nil: that cannot be read.
    func link(of descriptor: Int32) -> String?
    /// nil: that is not known without asking another machine.
    func isRegularFile(_ descriptor: Int32) -> Bool?
    /// True if a read of one of its open files may take as long as it likes, in the kernel: `/dev/zero` and
    /// its like.
    var hasEndlessFiles: Bool { get }
    /// A path as it means it, from its folder on; nil: that is not known.
    func absolute(_ path: String) -> String?
    /// By what path we open its program's file.
    var programFile: String { get }
    /// By what path we open a file of its; nil: it named it without a folder.
    func place(of path: String) -> String?
    /// The file that one of its paths leads to in the end, as its mappings name it; nil: there is none.
    func file(at path: String) -> String?
    /// The number that the next file it opens will get.
    func lowestFreeDescriptor() -> Int32

    // MARK: What the kernel tells of its threads

    /// A thread's stacks, taken by the kernel: see ``ThreadSamples/init(tid:cpu:interval:stackBytes:inKernelOnly:)``.
    func samples(
        of tid: Int32, cpu: Int64, interval: Int64, stackBytes: Int, inKernelOnly: Bool
    ) throws(SystemError) -> ThreadSamples
    /// The scheduler's account of when its threads have a core; nil: the kernel gives none.
    func schedule(of threads: [Int32], followsChildren: Bool) -> SchedulerReader?
    /// What is around one of its threads that waits.
    func surroundings(of tid: Int32, isUninterruptible: Bool) -> any WaitSurroundings

    // MARK: Other processes

    /// The same for another process.
    func process(_ pid: Int32) -> any ProcessAccess
    /// The process that a thread belongs to, and the one that started that process; nil: it is
    /// gone.
    func group(of tid: Int32) -> Int32?
    func parent(of tid: Int32) -> Int32?

    // MARK: Reports of traced threads, and of our children

    /// From any thread; nil: there is no news.
    func nextReport() -> ThreadReport?
    func nextReport(of tid: Int32) -> ThreadReport?
    /// The thread of the next report, and whether that reports an end. Does not take the report.
    func peekReport() -> (tid: Int32, isEnd: Bool)?
    /// True if our child has ended, and waits for us to take its status.
    var hasEnded: Bool { get }
    /// Resumes a thread of our child that has stopped without being traced by us: it asked to be
    /// traced itself.
    func releaseSelfTraced(_ tid: Int32, delivering signal: Int32)
}

extension ProcessAccess {
    /// All that is mapped, in the order of addresses; empty: that cannot be read.
    package func mappings() -> [ProcFormats.MapsLine] { addressSpace().mappings() }
}

/// What waitpid(2) tells.
package struct ThreadReport: Hashable, Sendable {
    package var tid: Int32
    /// nil: the report does not interest us.
    package var event: TraceEvent?
}

/// A program that runs, until another one replaces it.
package protocol ProgramAccess: AnyObject {
    /// True if the program is gone: another one replaced it, or the process ended.
    var isGone: Bool { get }
    /// The number of links of the folder of threads, which has one for each; nil: unknown.
    var threadLinks: UInt? { get }
}
