import CSystem
import Glibc
import ProfileModel
import System

/// What a session asks of the kernel about its process and the time: all that decides what it
/// does, so that this can be tested on processes that are made up.
protocol ProcessAccess: AnyObject {
    var pid: Int32 { get }

    // MARK: Time

    var now: MonotonicTime { get }
    func pause(microseconds: Int)
    /// Whether somebody has asked us to end, and was not heard yet.
    var isToEnd: Bool { get }

    // MARK: Threads

    func thread(_ tid: Int32) -> any ThreadAccess
    func threadIDs() -> [Int32]
    func isThread(_ tid: Int32) -> Bool

    // MARK: The process as a whole

    func counters() -> ProcessCounters
    /// CPU time of all its threads, and of the children that it waited for; nil: it is gone.
    var cpuTime: TimeSpan? { get }
    var childrenCPU: TimeSpan? { get }
    /// Whether it has ever waited for a child.
    var hasHadChildren: Bool { get }
    /// Whether all its threads have ended; nil: it is gone.
    var isZombie: Bool? { get }
    /// Whether its first thread has ended, or is about to.
    var isEnding: Bool { get }
    /// Whether another process has the same memory (vfork, clone with CLONE_VM), and may be in any
    /// code of it.
    var sharesMemory: Bool { get }
    /// Whether its ids are ours.
    var sharesNamespaceWithUs: Bool { get }
    /// Under which number it will open its next file.
    func lowestFreeDescriptor() -> Int32
    /// Whether we may read its memory, and so watch it at all.
    func checkPermission() throws(SystemError)

    // MARK: Its program

    func image(at time: MonotonicTime) -> Image
    /// Whether the kernel denied it privileges of its file, because it is traced.
    var lacksPrivileges: Bool { get }
    /// Without a program's memory it is about to end.
    var hasProgram: Bool { get }
    /// Where the first thread's stack begins, and how far it may grow, in bytes.
    var stackStart: UInt64 { get }
    var stackLimit: UInt64 { get }
    /// Whether any of some addresses was ever used, as far as that can be known.
    func hasUsed(_ range: Range<UInt64>) -> Bool
    /// The program that runs now, seen from outside.
    func runningProgram() -> any ProgramAccess

    // MARK: Other processes

    /// The same of another one.
    func process(_ pid: Int32) -> any ProcessAccess
    /// Whose thread it is, and which process started that; nil: it is gone.
    func group(of tid: Int32) -> Int32?
    func parent(of tid: Int32) -> Int32?

    // MARK: What is reported of traced threads, and of children of ours

    /// Of any of them; nil: there is no news.
    func nextReport() -> ThreadReport?
    func nextReport(of tid: Int32) -> ThreadReport?
    /// Whose report is next, and whether it tells of an end, which is not taken note of by asking.
    func peekReport() -> (tid: Int32, isEnd: Bool)?
    /// Whether our child has ended, and waits for us to take note.
    var hasEnded: Bool { get }
    /// Makes a thread of our child go on that has stopped without being traced by us: it asked to be
    /// traced itself.
    func releaseSelfTraced(_ tid: Int32, delivering signal: Int32)
}

/// What waitpid(2) tells.
struct ThreadReport: Hashable, Sendable {
    var tid: Int32
    /// nil: of no interest.
    var event: TraceEvent?
}

/// A program that runs, until another one takes its place.
protocol ProgramAccess: AnyObject {
    /// Whether it is gone: another program took its place, or the process ended.
    var isGone: Bool { get }
    /// The links of the folder of threads, which has one for each; nil: that cannot be told.
    var threadLinks: UInt? { get }
}

/// The real one.
final class KernelProcess: ProcessAccess {
    private let files: ProcessFiles
    private let scratch = ReadScratch()

    /// nil: it is not our child.
    private let parent: ParentThread?

    init(pid: Int32, parent: ParentThread? = nil) {
        files = ProcessFiles(pid: pid)
        self.parent = parent
    }

    var pid: Int32 { files.pid }

    var now: MonotonicTime { .now }

    func pause(microseconds: Int) {
        var time = timespec(tv_sec: 0, tv_nsec: 1000 * microseconds)
        nanosleep(&time, nil)
    }

    var isToEnd: Bool { SignalQueue.isToEnd }

    func thread(_ tid: Int32) -> any ThreadAccess {
        KernelThread(process: pid, tid: tid, scratch: scratch)
    }
    func threadIDs() -> [Int32] { files.threadIDs() }
    func isThread(_ tid: Int32) -> Bool { access("/proc/\(pid)/task/\(tid)", F_OK) == 0 }

    func counters() -> ProcessCounters { files.counters() }
    var cpuTime: TimeSpan? { files.cpuTime }
    var childrenCPU: TimeSpan? { files.childrenCPU }
    var hasHadChildren: Bool { files.stat().map { $0.childrenFaults > 0 } ?? false }
    var isZombie: Bool? { files.stat().map { $0.isZombie && !files.hasLivingThreads } }
    var isEnding: Bool { files.stat()?.isEnding ?? true }
    var sharesMemory: Bool { files.sharesMemory }
    var sharesNamespaceWithUs: Bool { files.sharesNamespaceWithUs }
    func lowestFreeDescriptor() -> Int32 { files.lowestFreeDescriptor() }

    func checkPermission() throws(SystemError) {
        try check(ProcFile.canOpen("/proc/\(pid)/mem"), "reading process \(pid)'s memory")
    }

    func image(at time: MonotonicTime) -> Image { files.image(at: time) }
    var lacksPrivileges: Bool { files.lacksPrivileges }
    var hasProgram: Bool { AuxiliaryVector(pid: pid).entry != 0 }
    var stackStart: UInt64 { files.stat()?.stackStart ?? 0 }
    var stackLimit: UInt64 { fl_stack_limit(pid) }

    func hasUsed(_ range: Range<UInt64>) -> Bool {
        // A word for each page: its two upper bits say that there is one, here or swapped out.
        let pages = range.lowerBound / 4096..<(range.upperBound &+ 4095) / 4096
        let words = FirstThread.orAnother(of: pid) { tid in
            let words = ProcFile.words(
                of: "/proc/\(tid)/pagemap", at: 8 * pages.lowerBound, count: pages.count)
            return words.isEmpty ? nil : words
        }
        return words?.contains { $0 >> 62 != 0 } ?? false
    }
    func runningProgram() -> any ProgramAccess { KernelProgram(pid: pid) }

    func process(_ pid: Int32) -> any ProcessAccess { KernelProcess(pid: pid) }
    func group(of tid: Int32) -> Int32? { Self.status("Tgid:", of: tid) }
    func parent(of tid: Int32) -> Int32? { Self.status("PPid:", of: tid) }

    private static func status(_ name: StaticString, of tid: Int32) -> Int32? {
        ProcessFiles(pid: tid).status(name).flatMap { Int32(exactly: $0) }
    }

    func nextReport() -> ThreadReport? { nextReport(of: -1) }

    func nextReport(of tid: Int32) -> ThreadReport? {
        var status: Int32 = 0
        // Never waiting: that would make us deaf to all others, and to Ctrl-C.
        let found = fl_wait(tid, 1, &status)
        return found > 0 ? ThreadReport(tid: found, event: TraceEvent(status: status)) : nil
    }

    func peekReport() -> (tid: Int32, isEnd: Bool)? {
        var isEnd: Int32 = 0
        let tid = fl_peek(&isEnd)
        return tid > 0 ? (tid, isEnd == 1) : nil
    }

    var hasEnded: Bool { fl_has_ended(pid) == 1 }

    func releaseSelfTraced(_ tid: Int32, delivering signal: Int32) {
        parent?.release(tid, delivering: signal)
    }
}

private final class KernelProgram: ProgramAccess {
    private let pid: Int32
    /// Reads nothing any more once the address space that it was opened for is gone.
    private var memory: ProcFile?
    /// An address that can be read as long as the program's image lives.
    private let probe: UInt64
    private let folder: Descriptor?

    init(pid: Int32) {
        self.pid = pid
        probe = AuxiliaryVector(pid: pid).programHeaders
        folder = try? Descriptor("/proc/\(pid)/task", O_DIRECTORY)
        _ = FirstThread.orAnother(of: pid) { [probe] tid in
            memory = ProcFile("/proc/\(tid)/mem")
            return memory?.canRead(at: probe) == true ? true : nil
        }
    }

    var isGone: Bool {
        if let isThere = memory?.canRead(at: probe) { return !isThere }
        // The process may have ended before its memory could be opened.
        return AuxiliaryVector(pid: pid).entry == 0
    }

    var threadLinks: UInt? {
        guard let status = try? folder?.status() else { return nil }
        return UInt(status.st_nlink)
    }
}
