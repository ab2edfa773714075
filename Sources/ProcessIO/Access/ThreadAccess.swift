package import Architecture
import CSystem
package import ProfileModel

/// One thread as the kernel shows it, and what we can do to it. A value that we have read may be
/// out of date a moment later. Any action may fail with `ESRCH`: the thread is gone, or not
/// stopped.
///
/// A class, since the real one keeps the thread's files open, and a look must not allocate.
package protocol ThreadAccess: AnyObject {
    var tid: Int32 { get }

    // MARK: What we can read while it runs; nil: it is gone

    func counters() -> SchedulerCounters?
    func activity() -> ThreadActivity?
    func status() -> ThreadStatus?
    /// The letter in `stat`: `t` when ptrace has stopped it.
    func state() -> UInt8?
    /// The things that change only now and then.
    func standing() -> ThreadStanding
    func name() -> String?
    /// The ids of the processes that it forked and has not waited for, as the kernel writes them.
    /// Empty also if the kernel does not list them (CONFIG_PROC_CHILDREN).
    func children() -> [UInt8]
    /// Up to `count` bytes of the process's memory, read through this thread: the first thread may
    /// have ended, and then has no memory.
    func memory(at address: UInt64, count: Int) -> [UInt8]
    /// As ``memory(at:count:)``, but does not touch missing pages: the program itself may have to
    /// supply them (userfaultfd(2)), by a thread that we have stopped.
    ///
    /// - Parameter absent: the content of missing pages.
    func stack(at address: UInt64, count: Int, absent: AbsentPages) -> [UInt8]
    /// The address of the C library's list of the thread's robust mutexes. The list is in the
    /// thread's descriptor, which glibc puts behind the thread's stack. 0: there is none, or it is
    /// unknown.
    var robustList: UInt64 { get }
    /// Opens its files again after an exec, when another thread may have taken its id.
    func reopen()
    /// From now on its name will be read rarely.
    func leaveName()

    // MARK: What we can do to it: see Tracee

    func seize(followingChildren: Bool) throws(SystemError)
    func interrupt() throws(SystemError)
    /// As ``interrupt()``, but stops the thread only while it runs its own code.
    ///
    /// - Parameter period: the CPU time of the thread between two checks of where it is.
    func interruptInOwnCode(each period: TimeSpan) throws(NoInterruption) -> any Interruption
    func resume(delivering signal: Int32) throws(SystemError)
    func resumeToCall() throws(SystemError)
    func listen() throws(SystemError)
    func detach(delivering signal: Int32) throws(SystemError)
    /// Sends it a signal with a value (rt_tgsigqueueinfo(2)); false: the thread is gone, or too
    /// many signals are pending for its user.
    func send(_ signal: Int32, value: UInt64) -> Bool
    func eventMessage() throws(SystemError) -> UInt64
    func registers() throws(SystemError) -> Registers
    func resumeAddress() throws(SystemError) -> UInt64
    func keepCall(restAt places: RestOfCall.Places?) throws(SystemError)
    /// Writes whole words to the memory of a stopped thread, ignoring its protection.
    func write(_ bytes: [UInt8], at address: UInt64) throws(SystemError)
    var isInSequence: Bool { get }
    var dispatchesCalls: Bool { get }
    var isInCall: Bool { get }
    @discardableResult
    func divert(to address: UInt64) throws(SystemError) -> Tracee.State
    func restore(_ state: Tracee.State) throws(SystemError)
}

extension ThreadAccess {
    package func seize() throws(SystemError) { try seize(followingChildren: false) }
    package func resume() throws(SystemError) { try resume(delivering: 0) }
    package func detach() throws(SystemError) { try detach(delivering: 0) }
}

/// The content of pages that are in no page table.
package enum AbsentPages {
    /// Zeros: the process's own memory that was never touched.
    case zeros
    /// Content that other processes or a file know. A copy ends before it.
    case unknown
}

/// The contents of a thread's `stat` besides its state.
package struct ThreadStanding: Hashable, Sendable {
    package var scheduling: SchedulingClass?
    package var name: String?
    /// The core that it runs on, or ran on last.
    package var core: Int32?
}

/// Asks the real kernel.
package final class KernelThread: ThreadAccess {
    private let tracee: Tracee
    private let process: Int32
    private let folder: String
    private var scheduler: KeptFile
    private var activityFile: KeptFile
    /// nil once the name is no longer read separately.
    private var nameFile: KeptFile?
    /// Only for threads that we have seen running.
    private var statusFile: KeptFile?
    /// All signals that we have ever seen the program block in this thread.
    private var blockedSignals: UInt64 = 0
    private let scratch: ReadScratch

    package init(process: Int32, tid: Int32, scratch: ReadScratch = ReadScratch()) {
        self.scratch = scratch
        tracee = Tracee(tid: tid)
        self.process = process
        folder = "/proc/\(process)/task/\(tid)"
        scheduler = KeptFile(folder + "/schedstat")
        activityFile = KeptFile(folder + "/syscall")
        nameFile = KeptFile(folder + "/comm")
    }

    package var tid: Int32 { tracee.tid }

    package func reopen() {
        scheduler = KeptFile(folder + "/schedstat")
        activityFile = KeptFile(folder + "/syscall")
        nameFile = KeptFile(folder + "/comm")
        statusFile = nil
        blockedSignals = 0
    }

    package func leaveName() { nameFile = nil }

    package func counters() -> SchedulerCounters? {
        scheduler.read(into: &scratch.buffer)
        return SchedulerCounters(scratch.buffer.text)
    }

    package func activity() -> ThreadActivity? {
        activityFile.read(into: &scratch.buffer)
        return ThreadActivity(scratch.buffer.text)
    }

    package func status() -> ThreadStatus? {
        if statusFile == nil { statusFile = KeptFile(folder + "/status") }
        statusFile?.read(into: &scratch.buffer)
        let status = ThreadStatus(scratch.buffer.text)
        if let status, !status.blocksForMoment { blockedSignals |= status.blockedSignals }
        return status
    }

    package func state() -> UInt8? {
        scratch.buffer.readAll(path: folder + "/stat")
        return ProcessStat(scratch.buffer.text)?.state
    }

    package func standing() -> ThreadStanding {
        scratch.buffer.readAll(path: folder + "/stat")
        let text = scratch.buffer.text
        return ThreadStanding(
            scheduling: SchedulingClass(text), name: ProcFormats.name(inStat: text),
            core: ProcFormats.core(inStat: text))
    }

    package func name() -> String? {
        if nameFile == nil {
            scratch.buffer.readAll(path: folder + "/comm")
        } else {
            nameFile?.read(into: &scratch.buffer)
        }
        return ProcFormats.name(inComm: scratch.buffer.text)
    }

    package func children() -> [UInt8] {
        scratch.buffer.readAll(path: folder + "/children")
        return scratch.buffer.contents
    }

    package func memory(at address: UInt64, count: Int) -> [UInt8] {
        TargetMemory(pid: tid).read(at: address, count: count)
    }

    package func stack(at address: UInt64, count: Int, absent: AbsentPages) -> [UInt8] {
        let range = address..<(address &+ UInt64(clamping: count))
        guard count > 0, range.lowerBound < range.upperBound else { return [] }
        let memory = TargetMemory(pid: tid)
        let pages = PageTable(pid: tid).words(of: VirtualMemory.pages(of: range))
        // Without a page table, read the memory directly.
        if pages.isEmpty { return memory.read(at: address, count: count) }
        return memory.read(range, pages.map(PageTable.isThere), absent)
    }

    package var robustList: UInt64 { fl_robust_list(tid) }

    package func seize(followingChildren: Bool) throws(SystemError) {
        try tracee.seize(followingChildren: followingChildren)
    }
    package func interrupt() throws(SystemError) { try tracee.interrupt() }
    package func interruptInOwnCode(each period: TimeSpan) throws(NoInterruption)
        -> any Interruption
    {
        guard let now = status() else { throw .eventsAreRefused }
        return try KernelInterruption(
            tid: tid, blocked: blockedSignals | now.blockedSignals, caught: now.caughtSignals,
            period: period
        ) { [self] in status() }
    }
    package func resume(delivering signal: Int32) throws(SystemError) {
        try tracee.resume(delivering: signal)
    }
    package func resumeToCall() throws(SystemError) { try tracee.resumeToCall() }
    package func listen() throws(SystemError) { try tracee.listen() }
    package func detach(delivering signal: Int32) throws(SystemError) {
        try tracee.detach(delivering: signal)
    }
    package func send(_ signal: Int32, value: UInt64) -> Bool {
        fl_signal_thread(process, tid, signal, value) == 0
    }
    package func eventMessage() throws(SystemError) -> UInt64 { try tracee.eventMessage() }
    package func registers() throws(SystemError) -> Registers { try tracee.registers() }
    package func resumeAddress() throws(SystemError) -> UInt64 { try tracee.resumeAddress() }
    package func keepCall(restAt places: RestOfCall.Places?) throws(SystemError) {
        try tracee.keepCall(restAt: places)
    }
    package func write(_ bytes: [UInt8], at address: UInt64) throws(SystemError) {
        try tracee.write(bytes, at: address)
    }
    package var isInSequence: Bool { tracee.isInSequence }
    package var dispatchesCalls: Bool { tracee.dispatchesCalls }
    package var isInCall: Bool { tracee.isInCall }
    package func divert(to address: UInt64) throws(SystemError) -> Tracee.State {
        try tracee.divert(to: address)
    }
    package func restore(_ state: Tracee.State) throws(SystemError) { try tracee.restore(state) }
}
