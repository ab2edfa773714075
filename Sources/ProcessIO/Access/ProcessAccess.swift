import Architecture
import CSystem
import Glibc
package import ProfileModel
import System

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
    /// True if the process's ids are the same for us.
    var sharesNamespaceWithUs: Bool { get }
    /// The number that the next file it opens will get.
    func lowestFreeDescriptor() -> Int32
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
    /// True if any of the addresses was ever used, as far as can be known.
    func hasUsed(_ range: Range<UInt64>) -> Bool
    /// True if the program itself may bring pages that are missing (userfaultfd(2)).
    var servesPages: Bool { get }
    /// Where the guard that is nearest below an address ends, if it is one without a mapping of its own
    /// (MADV_GUARD_INSTALL); nil: there is none from `start` on, or the kernel does not tell (before
    /// Linux 6.15).
    func guardEnd(below address: UInt64, downTo start: UInt64) -> UInt64?
    /// The program that runs now, seen from outside.
    func runningProgram() -> any ProgramAccess

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

/// Asks the real kernel.
package final class KernelProcess: ProcessAccess {
    private let files: ProcessFiles
    private let scratch = ReadScratch()

    /// nil: the process is not our child.
    private let parent: ParentThread?

    package init(pid: Int32, parent: ParentThread? = nil) {
        files = ProcessFiles(pid: pid)
        self.parent = parent
    }

    package var pid: Int32 { files.pid }

    package var now: MonotonicTime { .now }

    package func pause(microseconds: Int) {
        var time = timespec(tv_sec: 0, tv_nsec: 1000 * microseconds)
        nanosleep(&time, nil)
    }

    package var isToEnd: Bool { SignalQueue.isToEnd }

    package func thread(_ tid: Int32) -> any ThreadAccess {
        KernelThread(process: pid, tid: tid, scratch: scratch)
    }
    package func threadIDs() -> [Int32] { files.threadIDs() }
    package func isThread(_ tid: Int32) -> Bool { access("/proc/\(pid)/task/\(tid)", F_OK) == 0 }

    package func counters() -> ProcessCounters { files.counters() }
    package var cpuTime: TimeSpan? { files.cpuTime }
    package var childrenCPU: TimeSpan? { files.childrenCPU }
    package var childrenFaults: Int64 { files.stat()?.childrenFaults ?? 0 }
    package var isZombie: Bool? { files.stat().map { $0.isZombie && !files.hasLivingThreads } }
    package var isEnding: Bool { files.stat()?.isEnding ?? true }
    package var sharesMemory: Bool { files.sharesMemory }
    package var sharesNamespaceWithUs: Bool { files.sharesNamespaceWithUs }
    package func lowestFreeDescriptor() -> Int32 { files.lowestFreeDescriptor() }

    package func checkPermission() throws(SystemError) {
        try check(ProcFile.canOpen("/proc/\(pid)/mem"), "reading process \(pid)'s memory")
    }

    package func image(at time: MonotonicTime) -> Image { files.image(at: time) }
    package var lacksPrivileges: Bool { files.lacksPrivileges }
    package var hasProgram: Bool { AuxiliaryVector(pid: pid).entry != 0 }
    package var stackStart: UInt64 { files.stat()?.stackStart ?? 0 }
    package var stackLimit: UInt64 { fl_stack_limit(pid) }

    package func hasUsed(_ range: Range<UInt64>) -> Bool {
        pageWords(of: VirtualMemory.pages(of: range)).contains(where: PageTable.isThere)
    }

    package func guardEnd(below address: UInt64, downTo start: UInt64) -> UInt64? {
        guard start < address else { return nil }
        let all = VirtualMemory.pages(of: start..<address)
        let least = all.upperBound - min(all.upperBound, Self.mostStackPages)
        let pages = max(all.lowerBound, least)..<all.upperBound
        let words = pageWords(of: pages)
        guard words.count == pages.count, let index = words.lastIndex(where: PageTable.isGuard)
        else { return nil }
        return (pages.lowerBound + UInt64(index) + 1) * VirtualMemory.pageSize
    }

    /// 64 MiB: more than a thread's stack takes.
    private static let mostStackPages: UInt64 = 16384

    private func pageWords(of pages: Range<UInt64>) -> [UInt64] {
        FirstThread.orAnother(of: pid) { tid in
            let words = PageTable(pid: tid).words(of: pages)
            return words.isEmpty ? nil : words
        } ?? []
    }

    package var servesPages: Bool { !files.descriptors(of: "anon_inode:[userfaultfd]").isEmpty }

    package func runningProgram() -> any ProgramAccess { KernelProgram(pid: pid) }

    package func process(_ pid: Int32) -> any ProcessAccess { KernelProcess(pid: pid) }
    package func group(of tid: Int32) -> Int32? { Self.status("Tgid:", of: tid) }
    package func parent(of tid: Int32) -> Int32? { Self.status("PPid:", of: tid) }

    private static func status(_ name: StaticString, of tid: Int32) -> Int32? {
        ProcessFiles(pid: tid).status(name).flatMap { Int32(exactly: $0) }
    }

    package func nextReport() -> ThreadReport? { nextReport(of: -1) }

    package func nextReport(of tid: Int32) -> ThreadReport? {
        var status: Int32 = 0
        // Never wait here: we would miss all other threads, and Ctrl-C.
        let found = fl_wait(tid, 1, &status)
        return found > 0 ? ThreadReport(tid: found, event: TraceEvent(status: status)) : nil
    }

    package func peekReport() -> (tid: Int32, isEnd: Bool)? {
        var isEnd: Int32 = 0
        let tid = fl_peek(&isEnd)
        return tid > 0 ? (tid, isEnd == 1) : nil
    }

    package var hasEnded: Bool { fl_has_ended(pid) == 1 }

    package func releaseSelfTraced(_ tid: Int32, delivering signal: Int32) {
        parent?.release(tid, delivering: signal)
    }
}

private final class KernelProgram: ProgramAccess {
    private let pid: Int32
    /// Reads nothing once the address space for which it was opened is gone.
    private var memory: ProcFile?
    /// An address that can be read as long as the program's memory lives.
    private let probe: UInt64
    private let folder: Descriptor?

    init(pid: Int32) {
        self.pid = pid
        probe = AuxiliaryVector(pid: pid).programHeaders
        folder = Descriptor(keeping: "/proc/\(pid)/task", O_DIRECTORY)
        _ = FirstThread.orAnother(of: pid) { [probe] tid in
            memory = ProcFile(keeping: "/proc/\(tid)/mem")
            return memory?.canRead(at: probe) == true ? true : nil
        }
    }

    var isGone: Bool {
        if let isThere = memory?.canRead(at: probe) { return !isThere }
        // The process may have ended before its memory could be opened.
        return AuxiliaryVector(pid: pid).entry == 0
    }

    var threadLinks: UInt? {
        if let status = try? folder?.status() { return UInt(status.st_nlink) }
        // There are too few descriptors to keep it open.
        var status = stat()
        return stat("/proc/\(pid)/task", &status) == 0 ? UInt(status.st_nlink) : nil
    }
}
