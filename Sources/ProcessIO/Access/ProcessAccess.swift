package import ProfileModel

/// What a session asks the kernel about its process and the time. A session's decisions depend on
/// nothing else, so tests can replace this with made-up processes.
package protocol ProcessAccess: AnyObject {
    var pid: Int32 { get }

    // MARK: Time

    var now: MonotonicTime { get }
    func pause(microseconds: Int)
    /// True if a request to end has reached the recorder and has not been taken yet.
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
    /// Page faults of the children that the process has waited for. Every child has some. 0: it has
    /// waited for no child, or it is gone.
    var childrenFaults: Int64 { get }
    /// True if all threads have ended; nil: the process is gone.
    var isZombie: Bool? { get }
    /// True if the first thread has ended, or is about to.
    var isEnding: Bool { get }
    /// True if another process shares the memory (vfork, clone with CLONE_VM). It may execute any
    /// code in it.
    var sharesMemory: Bool { get }
    /// The id of the thread that traces one of its threads; 0: it is not traced; nil: it is gone.
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
    /// Its limits, in bytes; `UInt64.max`: unlimited.
    var fileSizeLimit: UInt64 { get }
    var addressSpaceLimit: UInt64 { get }
    /// True if any of the addresses was ever used, as far as can be known.
    func hasUsed(_ range: Range<UInt64>) -> Bool
    /// Its memory, as it is at each read.
    var memory: TargetMemory { get }
    /// What the kernel told the program at its start.
    var vector: AuxiliaryVector { get }
    /// For repeated reads of the process's mappings.
    func addressSpace() -> any AddressSpace
    /// True if the program itself may supply missing pages (userfaultfd(2)).
    var servesPages: Bool { get }
    /// The end of the nearest guard below an address, if the guard has no mapping of its own
    /// (MADV_GUARD_INSTALL); nil: there is none from `start` on, or the kernel does not report
    /// guards (before Linux 6.15).
    func guardEnd(below address: UInt64, downTo start: UInt64) -> UInt64?
    /// The program that runs now, seen from outside.
    func runningProgram() -> any ProgramAccess

    // MARK: Its files

    /// Its descriptors that lead to a file.
    func descriptors(of path: String) -> [Int32]
    /// Opens once more the file that a descriptor leads to; `open` does it with a path. Negative:
    /// the file cannot be opened, or too few descriptors would be left.
    func open(_ descriptor: Int32, by open: (_ path: String) -> Int32) -> Int32
    /// True if one of its descriptors leads to the same file as one of ours. Any of its threads may put
    /// another file there, so the answer is certain only while none of them runs.
    func shares(_ own: Int32, as descriptor: Int32) -> Bool
    /// The target of a descriptor's link; nil: the link cannot be read.
    func link(of descriptor: Int32) -> String?
    /// nil: only another machine could tell.
    func isRegularFile(_ descriptor: Int32) -> Bool?
    /// True if a read of one of its open files may take arbitrarily long in the kernel: `/dev/zero`
    /// and the like.
    var hasEndlessFiles: Bool { get }
    /// A path made absolute as the process means it, from its current folder on; nil: unknown.
    func absolute(_ path: String) -> String?
    /// The path by which we open its program's file.
    var programFile: String { get }
    /// The path by which we open one of its files; nil: the process named the file without a
    /// folder.
    func place(of path: String) -> String?
    /// The file that one of its paths finally leads to, as its mappings name it; nil: there is
    /// none.
    func file(at path: String) -> String?
    /// The number that the next file opened by the process will get.
    func lowestFreeDescriptor() -> Int32

    // MARK: What the kernel reports of its threads

    /// A thread's stacks, taken by the kernel. See
    /// ``ThreadSamples/init(tid:cpu:interval:stackBytes:inKernelOnly:)``.
    func samples(
        of tid: Int32, cpu: Int64, interval: Int64, stackBytes: Int, inKernelOnly: Bool
    ) throws(SystemError) -> ThreadSamples
    /// The scheduler's account of when its threads have a core; nil: the kernel gives none.
    func schedule(of threads: [Int32], followsChildren: Bool) -> SchedulerReader?
    /// What can be read about one of its waiting threads.
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
    /// The thread of the next report, and whether the report is of its end. Does not take the
    /// report.
    func peekReport() -> (tid: Int32, isEnd: Bool)?
    /// True if our child has ended, and waits for us to take its status.
    var hasEnded: Bool { get }
    /// Resumes a stopped thread of our child that we do not trace: the thread asked to be traced
    /// itself.
    func releaseSelfTraced(_ tid: Int32, delivering signal: Int32)
}

extension ProcessAccess {
    /// All mappings, in the order of addresses; empty: they cannot be read.
    package func mappings() -> [ProcFormats.MapsLine] { addressSpace().mappings() }
}

/// A report of waitpid(2).
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
