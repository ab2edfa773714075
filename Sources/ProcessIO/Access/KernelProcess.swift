import Architecture
import CSystem
import Glibc
package import ProfileModel
import System

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

    /// The recorder's own process.
    package static var ourselves: KernelProcess { KernelProcess(pid: getpid()) }

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
    package var status: ProcessStatus? { ProcessStatus(pid: pid) }
    package var hasOtherClocks: Bool { files.hasOtherClocks }
    package var innerNames: InnerNames { InnerNames(pid: pid) }
    package func descriptors(of path: String) -> [Int32] { files.descriptors(of: path) }
    package func link(of descriptor: Int32) -> String? { OpenFiles(pid: pid).link(of: descriptor) }
    package func open(_ descriptor: Int32, by open: (_ path: String) -> Int32) -> Int32 {
        OpenFiles(pid: pid).open(descriptor, by: open)
    }
    package func shares(_ own: Int32, as descriptor: Int32) -> Bool {
        OpenFiles(pid: pid).isSame(descriptor, as: own)
    }
    package func isRegularFile(_ descriptor: Int32) -> Bool? {
        OpenFiles(pid: pid).isRegular(descriptor)
    }
    package var hasEndlessFiles: Bool { OpenFiles(pid: pid).hasEndless }

    package func surroundings(of tid: Int32, isUninterruptible: Bool) -> any WaitSurroundings {
        ProcSurroundings(pid: pid, tid: tid, isUninterruptible: isUninterruptible)
    }

    package func absolute(_ path: String) -> String? { ProgramPath.absolute(path, of: pid) }

    package var programFile: String { "\(folder)/exe" }

    package func place(of path: String) -> String? {
        if path.hasPrefix("/") { return "\(folder)/root\(path)" }
        return path.contains("/") ? "\(folder)/cwd/\(path)" : nil
    }

    /// The folder under `/proc` that shows what all its threads share.
    private var folder: String { "/proc/\(FirstThread.orHolder(of: pid) ?? pid)" }

    package func file(at path: String) -> String? {
        let found = realpath("/proc/\(pid)/root\(path)", nil) ?? realpath(path, nil)
        defer { free(found) }
        return found.flatMap { String(validatingCString: $0) }
    }

    package func lowestFreeDescriptor() -> Int32 { files.lowestFreeDescriptor() }

    package func checkPermission() throws(SystemError) {
        try check(ProcFile.canOpen("/proc/\(pid)/mem"), "reading process \(pid)'s memory")
    }

    package func image(at time: MonotonicTime) -> Image { files.image(at: time) }
    package var lacksPrivileges: Bool { files.lacksPrivileges }
    package var hasProgram: Bool { vector.entry != 0 }
    package var memory: TargetMemory { TargetMemory(pid: pid) }
    package var vector: AuxiliaryVector { AuxiliaryVector(pid: pid) }

    package func addressSpace() -> any AddressSpace { KernelAddressSpace(pid: pid) }

    package var stackStart: UInt64 { files.stat()?.stackStart ?? 0 }
    package var stackLimit: UInt64 { fl_stack_limit(pid) }
    package var fileSizeLimit: UInt64 { fl_file_size_limit(pid) }
    package var addressSpaceLimit: UInt64 { fl_address_space_limit(pid) }

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

    /// 64 MiB: more than any thread's stack takes.
    private static let mostStackPages: UInt64 = 16384

    private func pageWords(of pages: Range<UInt64>) -> [UInt64] {
        FirstThread.orAnother(of: pid) { tid in
            let words = PageTable(pid: tid).words(of: pages)
            return words.isEmpty ? nil : words
        } ?? []
    }

    package var servesPages: Bool { !descriptors(of: "anon_inode:[userfaultfd]").isEmpty }

    package func samples(
        of tid: Int32, cpu: Int64, interval: Int64, stackBytes: Int, inKernelOnly: Bool
    ) throws(SystemError) -> ThreadSamples {
        try ThreadSamples(
            tid: tid, cpu: cpu, interval: interval, stackBytes: stackBytes,
            inKernelOnly: inKernelOnly)
    }

    package func tracer(of tid: Int32) -> Int32? { Self.status("TracerPid:", of: tid) }

    package func schedule(of threads: [Int32], followsChildren: Bool) -> SchedulerReader? {
        SchedulerReader(pid: pid, threads: threads, followsChildren: followsChildren)
    }

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
