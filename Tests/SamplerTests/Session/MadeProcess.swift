import Architecture
import Glibc
import ProfileModel
import Synchronization
import System

@testable import ProcessIO
@testable import Sampler

/// A process that a test makes up, with a clock of its own. `/proc` has nothing of it.
final class MadeProcess: ProcessAccess {
    /// Beyond the largest id that Linux gives out.
    static let firstPID: Int32 = 2_000_000_000

    let pid: Int32
    private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)
    private(set) var threads: [Int32: MadeThread] = [:]
    /// The pending reports, oldest first.
    var reports: [ThreadReport] = []
    /// Stops are reported only when a test says so.
    var holdsStops = false
    /// This thread does not stop, for as long as a stop may be waited for.
    var deaf: Int32?
    /// An event that occurs during the session's next wait.
    var whilePaused: (() -> Void)?
    /// The user has pressed Ctrl-C.
    var isToEnd = false
    /// Another process has its memory.
    var sharesMemory = false
    private var heldStops: [ThreadReport] = []
    var path = "/made/first"
    /// The program that a session watches from outside is gone.
    let program = MadeProgram()
    var isZombie: Bool? = false
    var isEnding = false
    var hasEnded = false
    /// Threads that were made to go on by our own thread that forked them, and the signals to them.
    private(set) var releasedByParent: [(tid: Int32, signal: Int32)] = []
    var hasProgram = true
    var childrenCPU: TimeSpan? = .zero
    var childrenFaults: Int64 = 0
    /// Others, which a group may ask for.
    var others: [Int32: MadeProcess] = [:]
    var parents: [Int32: Int32] = [:]

    init(pid: Int32 = MadeProcess.firstPID) {
        self.pid = pid
        start(pid)
    }

    // MARK: What a test makes it do

    var main: MadeThread { thread(made: pid) }

    /// A thread with that id, which begins on a core.
    @discardableResult
    func start(_ tid: Int32) -> MadeThread {
        let thread = MadeThread(tid, of: self)
        threads[tid] = thread
        return thread
    }

    /// It is gone from the process, without a report.
    func remove(_ tid: Int32) {
        threads[tid]?.doing = .gone
        threads[tid] = nil
    }

    /// Lets time pass: each thread goes on with its activity.
    func pass(_ milliseconds: Int64) {
        let span = TimeSpan.milliseconds(milliseconds)
        now = now + span
        for thread in threads.values { thread.pass(span) }
    }

    func tell(_ event: TraceEvent, of tid: Int32) {
        reports.append(ThreadReport(tid: tid, event: event))
    }

    func tellStop(of tid: Int32) {
        let report = ThreadReport(tid: tid, event: .stopped)
        if holdsStops || tid == deaf { heldStops.append(report) } else { reports.append(report) }
    }

    func releaseStops() {
        holdsStops = false
        reports += heldStops
        heldStops = []
    }

    private func thread(made tid: Int32) -> MadeThread {
        threads[tid] ?? MadeThread(tid, of: self, doing: .gone)
    }

    // MARK: What a session asks

    /// Stops that were held back come now, as the session waits for them; but not that of the deaf
    /// thread.
    func pause(microseconds: Int) {
        now = now + TimeSpan(nanoseconds: Int64(microseconds) * 1000)
        reports += heldStops.filter { $0.tid != deaf }
        heldStops.removeAll { $0.tid != deaf }
        let event = whilePaused
        whilePaused = nil
        event?()
    }

    func thread(_ tid: Int32) -> any ThreadAccess { thread(made: tid) }
    func threadIDs() -> [Int32] { threads.keys.sorted() }
    func isThread(_ tid: Int32) -> Bool { threads[tid] != nil }

    func counters() -> ProcessCounters {
        ProcessCounters(minorFaults: 1, majorFaults: 2, readBytes: 3)
    }
    var cpuTime: TimeSpan? {
        let sum = threads.values.reduce(Int64(0)) { $0 + $1.run }
        return TimeSpan(nanoseconds: sum)
    }
    var sharesNamespaceWithUs: Bool { true }
    var status: ProcessStatus?
    var hasOtherClocks = false
    var innerNames: InnerNames { InnerNames(pid: pid) }
    func tracer(of tid: Int32) -> Int32? { threads[tid].map { _ in 0 } }
    func lowestFreeDescriptor() -> Int32 { 3 }
    func checkPermission() throws(SystemError) {}

    func image(at time: MonotonicTime) -> Image {
        Image(path: path, arguments: [path], time: time)
    }
    /// As long as the first thread is stopped; then its program is over at once.
    var lacksPrivileges: Bool { isDenied && main.isStopped }
    var isDenied = false
    var stackStart: UInt64 { 0 }
    var stackLimit: UInt64 { 8 << 20 }
    func hasUsed(_ range: Range<UInt64>) -> Bool { false }
    var servesPages = false
    /// The ends of guards without mappings of their own.
    var guards: [UInt64] = []
    func guardEnd(below address: UInt64, downTo start: UInt64) -> UInt64? {
        guards.filter { $0 <= address && $0 > start }.max()
    }
    let fileSizeLimit = UInt64.max
    let addressSpaceLimit = UInt64.max
    func runningProgram() -> any ProgramAccess { program }

    // MARK: Its memory

    private let contents = MadeContents()
    private let space = MadeAddressSpace()
    var memory: TargetMemory { TargetMemory(contents) }
    var vector: AuxiliaryVector { AuxiliaryVector([]) }
    func addressSpace() -> any AddressSpace { space }

    /// Bytes that can be read from an address on.
    func put(_ bytes: [UInt8], at address: UInt64) { contents.put(bytes, at: address) }

    /// Mappings from now on, as text of `/proc/PID/maps`.
    func map(_ text: String) { space.map(text) }

    // MARK: Its files

    /// Where its descriptors lead to.
    var links: [Int32: String] = [:]
    var programFile: String { path }
    func place(of path: String) -> String? { path }
    func file(at path: String) -> String? { nil }
    func absolute(_ path: String) -> String? { path.hasPrefix("/") ? path : nil }
    func descriptors(of path: String) -> [Int32] { [] }
    func open(_ descriptor: Int32, by open: (_ path: String) -> Int32) -> Int32 { -1 }
    func shares(_ own: Int32, as descriptor: Int32) -> Bool { false }
    func link(of descriptor: Int32) -> String? { links[descriptor] }
    func isRegularFile(_ descriptor: Int32) -> Bool? { links[descriptor]?.hasPrefix("/made/") }
    var hasEndlessFiles = false

    func surroundings(of tid: Int32, isUninterruptible: Bool) -> any WaitSurroundings {
        UnknownSurroundings(isUninterruptible: isUninterruptible)
    }

    // MARK: Its events: the kernel has none

    func schedule(of threads: [Int32], followsChildren: Bool) -> SchedulerReader? { nil }

    func samples(
        of tid: Int32, cpu: Int64, interval: Int64, stackBytes: Int, inKernelOnly: Bool
    ) throws(SystemError) -> ThreadSamples {
        throw SystemError("opening a made thread's events", code: ESRCH)
    }

    func process(_ pid: Int32) -> any ProcessAccess { others[pid] ?? MadeProcess(pid: pid) }
    func group(of tid: Int32) -> Int32? {
        isThread(tid) ? pid : others.first { $0.value.isThread(tid) }?.key
    }
    func parent(of tid: Int32) -> Int32? { parents[tid] }

    func releaseSelfTraced(_ tid: Int32, delivering signal: Int32) {
        releasedByParent.append((tid, signal))
    }

    func nextReport() -> ThreadReport? { reports.isEmpty ? nil : reports.removeFirst() }

    func nextReport(of tid: Int32) -> ThreadReport? {
        reports.firstIndex { $0.tid == tid }.map { reports.remove(at: $0) }
    }

    func peekReport() -> (tid: Int32, isEnd: Bool)? {
        reports.first.map { report in
            switch report.event {
            case .exited, .killed: (report.tid, true)
            default: (report.tid, false)
            }
        }
    }
}

/// Memory whose contents a test sets.
final class MadeContents: MemorySource {
    private let pieces = Mutex<[UInt64: [UInt8]]>([:])

    func put(_ bytes: [UInt8], at address: UInt64) {
        pieces.withLock { $0[address] = bytes }
    }

    func read(at address: UInt64, count: Int) -> [UInt8] {
        pieces.withLock { pieces in
            let piece = pieces.first { start, bytes in
                start <= address && address - start < UInt64(bytes.count)
            }
            guard let piece, count > 0 else { return [] }
            return Array(piece.value.dropFirst(Int(address - piece.key)).prefix(count))
        }
    }

    func read(at addresses: [UInt64], count: Int) -> [UInt8] {
        addresses.flatMap { address in
            let bytes = read(at: address, count: count)
            return bytes + [UInt8](repeating: 0, count: max(0, count) - bytes.count)
        }
    }

    func write(_ bytes: [UInt8], at address: UInt64) -> Bool {
        pieces.withLock { pieces in
            for (start, old) in pieces where start <= address {
                let offset = Int(clamping: address - start)
                guard offset + bytes.count <= old.count else { continue }
                pieces[start]?.replaceSubrange(offset..<offset + bytes.count, with: bytes)
                return true
            }
            return false
        }
    }
}

final class MadeAddressSpace: AddressSpace {
    private var lines: [ProcFormats.MapsLine] = []
    private var moves: Int64 = 0

    func map(_ maps: String) {
        lines = ProcFormats.maps(text(maps))
        moves += 1
    }

    func pages() -> Int64 { lines.isEmpty ? 0 : moves }
    func code() -> Int64 { moves }
    func mappings() -> [ProcFormats.MapsLine] { lines }
    func reopen() {}
}

final class MadeProgram: ProgramAccess {
    var isGone = false
    var threadLinks: UInt? = 3
}

/// A thread of a made process: on a core or blocked, and stopped or not.
final class MadeThread: ThreadAccess {
    enum Doing: Hashable {
        case running
        /// Wants a core.
        case waiting
        case blocked(call: Int32)
        case gone
    }

    let tid: Int32
    private unowned let process: MadeProcess
    fileprivate(set) var doing: Doing
    private(set) var run: Int64 = 0
    private var delay: Int64 = 0
    private var timeslices: Int64 = 1
    private var voluntary: Int64 = 0
    private var forced: Int64 = 0
    private(set) var isTraced = false
    private(set) var isStopped = false
    private var stopsAgain = false
    /// The actions on this thread, in order.
    private(set) var done: [Action] = []
    var comm = "made"
    /// As in `children`.
    var childIDs = ""
    var pendingSignals: UInt64 = 0
    var message: UInt64 = 0
    var programCounter: UInt64 = 0x40_1000
    /// In front of its program counter.
    var code: [UInt8] = []
    private(set) var memoryReads = 0
    /// Its memory from the stack pointer on.
    var stack: [UInt8] = Array(repeating: 7, count: 64)
    let stackPointer: UInt64 = 0x7000_0000
    /// Called when it stops because it was asked to.
    var whenStopped: (() -> Void)?
    /// Called between a look at its activity and the next one at its counters.
    var afterLook: (() -> Void)?
    var scheduling = SchedulingClass(policy: 0, nice: 0, realTime: 0)
    var blocksSignals = false
    /// Whether it runs its own code, or stays within a call; nil: that cannot be told.
    var isInOwnCode: Bool?
    private var interruption: MadeInterruption?

    enum Action: Hashable {
        case seized, interrupted, interruptedInOwnCode, resumed(Int32), listened, detached(Int32),
            reopened
    }

    init(_ tid: Int32, of process: MadeProcess, doing: Doing = .running) {
        self.tid = tid
        self.process = process
        self.doing = doing
    }

    // MARK: What a test makes it do

    func block(in call: Int32 = 202) {
        guard doing == .running else { return }
        doing = .blocked(call: call)
        voluntary += 1
    }

    func wake() {
        guard doing != .running else { return }
        doing = .running
        timeslices += 1
    }

    /// Another one takes its core.
    func lose() {
        guard doing == .running else { return }
        doing = .waiting
        forced += 1
    }

    /// As another thread's exec does with its id.
    func takeOver(run: Int64) {
        self.run = run
        doing = .running
        timeslices = 100
    }

    fileprivate func pass(_ span: TimeSpan) {
        guard !isStopped else { return }
        switch doing {
        case .running: run += span.nanoseconds
        case .waiting: delay += span.nanoseconds
        case .blocked, .gone: break
        }
    }

    // MARK: Its reports

    /// How often its counters were asked for.
    private(set) var asked = 0

    func counters() -> SchedulerCounters? {
        asked += 1
        return doing == .gone
            ? nil : SchedulerCounters(run: run, delay: delay, timeslices: timeslices)
    }

    func activity() -> ThreadActivity? {
        defer {
            afterLook?()
            afterLook = nil
        }
        let registers = Registers(programCounter: programCounter, stackPointer: stackPointer)
        switch doing {
        case .gone: return nil
        case _ where isStopped: return .blocked(systemCall: -1, registers: registers)
        case .running, .waiting: return .running
        case .blocked(let call):
            var registers = registers
            for number in [5, 4, 1, 10, 8, 9] { registers[number] = 0 }
            return .blocked(systemCall: call, registers: registers)
        }
    }

    func status() -> ThreadStatus? {
        guard doing != .gone else { return nil }
        return ThreadStatus(
            text(
                """
                SigPnd:\t\(String(pendingSignals, radix: 16))
                SigBlk:\t0000000000000000
                Seccomp:\t0
                Seccomp_filters:\t0
                voluntary_ctxt_switches:\t\(voluntary)
                nonvoluntary_ctxt_switches:\t\(forced)

                """))
    }

    func state() -> UInt8? {
        guard doing != .gone else { return nil }
        return isStopped ? UInt8(ascii: "t") : UInt8(ascii: "S")
    }

    func standing() -> ThreadStanding {
        doing == .gone
            ? ThreadStanding() : ThreadStanding(scheduling: scheduling, name: comm)
    }

    func children() -> [UInt8] { Array(childIDs.utf8) }
    func name() -> String? { doing == .gone ? nil : comm }

    var robustList: UInt64 = 0

    func memory(at address: UInt64, count: Int) -> [UInt8] {
        memoryReads += 1
        guard doing != .gone else { return [] }
        if address == programCounter &- UInt64(code.count) { return Array(code.prefix(count)) }
        return address == stackPointer ? Array(stack.prefix(count)) : []
    }

    func stack(at address: UInt64, count: Int, absent: AbsentPages) -> [UInt8] {
        memory(at: address, count: count)
    }

    func reopen() { done.append(.reopened) }
    func leaveName() {}

    // MARK: Actions on it

    private static func gone(_ operation: String) -> SystemError {
        SystemError(operation, code: ESRCH)
    }

    func seize(followingChildren: Bool) throws(SystemError) {
        guard doing != .gone, !isTraced else { throw Self.gone("seizing") }
        isTraced = true
        done.append(.seized)
    }

    func interrupt() throws(SystemError) {
        guard doing != .gone, isTraced else { throw Self.gone("stopping") }
        done.append(.interrupted)
        // Asked while it is stopped, it stops once more as soon as it goes on.
        guard !isStopped else { return stopsAgain = true }
        isStopped = true
        voluntary += 1
        whenStopped?()
        process.tellStop(of: tid)
    }

    func interruptInOwnCode(each period: TimeSpan) throws(NoInterruption) -> any Interruption {
        if blocksSignals { throw .signalsAreBlocked }
        guard let isInOwnCode, doing != .gone, isTraced else { throw .eventsAreRefused }
        done.append(.interruptedInOwnCode)
        let interruption = MadeInterruption()
        self.interruption = interruption
        if isInOwnCode { comeLate() }
        return interruption
    }

    /// The stop in its own code will come, called off or not.
    func sendStop() { interruption?.isOnItsWay = true }

    /// The stop in its own code comes.
    func comeLate() {
        interruption?.hasStopped = true
        interruption?.isOnItsWay = false
        stop()
        process.tell(.signal(23), of: tid)
    }

    /// It has stopped by itself, for an event.
    func stop() {
        isTraced = true
        isStopped = true
    }

    private func goOn() {
        isStopped = false
        timeslices += 1
    }

    func resume(delivering signal: Int32) throws(SystemError) {
        guard isStopped else { throw Self.gone("resuming") }
        done.append(.resumed(signal))
        goOn()
        guard stopsAgain else { return }
        stopsAgain = false
        isStopped = true
        process.tellStop(of: tid)
    }

    /// Its next call.
    var nextCall: UInt64?

    func resumeToCall() throws(SystemError) {
        try resume(delivering: 0)
        guard let nextCall else { return }
        programCounter = nextCall
        isStopped = true
        process.tell(.call, of: tid)
    }

    func listen() throws(SystemError) {
        guard isStopped else { throw Self.gone("listening") }
        done.append(.listened)
    }

    func detach(delivering signal: Int32) throws(SystemError) {
        guard isStopped else { throw Self.gone("releasing") }
        done.append(.detached(signal))
        isTraced = false
        stopsAgain = false
        goOn()
    }

    func send(_ signal: Int32, value: UInt64) -> Bool { false }
    func eventMessage() throws(SystemError) -> UInt64 { message }

    func registers() throws(SystemError) -> Registers {
        guard isStopped, doing != .gone else { throw Self.gone("reading") }
        return Registers(programCounter: programCounter, stackPointer: stackPointer)
    }

    func resumeAddress() throws(SystemError) -> UInt64 {
        guard isStopped, doing != .gone else { throw Self.gone("reading") }
        return programCounter
    }

    /// How often its call was to outlast a stop.
    private(set) var keptCalls = 0
    func keepCall(restAt places: RestOfCall.Places?) throws(SystemError) { keptCalls += 1 }
    func write(_ bytes: [UInt8], at address: UInt64) throws(SystemError) {
        throw Self.gone("writing")
    }
    var isInSequence: Bool { false }
    var dispatchesCalls: Bool { false }
    var isInCall: Bool { false }
    func divert(to address: UInt64) throws(SystemError) -> Tracee.State {
        throw Self.gone("diverting")
    }
    func restore(_ state: Tracee.State) throws(SystemError) { throw Self.gone("restoring") }
}

final class MadeInterruption: Interruption {
    var hasStopped = false
    var isOnItsWay = false
    private(set) var isCalledOff = false

    func callOff() { isCalledOff = true }
}
