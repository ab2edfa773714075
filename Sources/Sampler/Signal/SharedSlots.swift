import CAgent
import CSystem
import ProfileModel
import Synchronization

/// The memory that the program and the recorder share: one slot for each thread that is sampled
/// by signal. The handler writes a slot only between our request and its answer, so there is
/// nothing to overwrite, and nobody ever waits.
///
/// Unsafe code: every access goes through a slot's number, checked against their count, and what
/// the program may have written is checked before it is used.
final class SharedSlots {
    /// A slot's size; a power of two, its head included.
    let slotSize: Int
    let count: Int
    /// Where the program has mapped them.
    let address: UInt64
    private let base: UnsafeMutableRawPointer
    private var free: [Int]
    private var isAwaitingHandler = true

    static let headSize = MemoryLayout<fl_slot>.size

    /// Maps the descriptor `number` of process `pid`. nil when that fails.
    init?(pid: Int32, descriptor: Int32, address: UInt64, slotSize: Int, count: Int) {
        let path = "/proc/\(pid)/fd/\(descriptor)"
        guard let base = fl_map_shared(path, slotSize * count) else { return nil }
        self.base = base
        self.slotSize = slotSize
        self.count = count
        self.address = address
        // The first is the process's own.
        free = Array((1..<count).reversed())
    }

    deinit {
        fl_unmap(base, slotSize * count)
    }

    // MARK: The process

    /// Lets the thread go on that made the slots. false: it has given up waiting.
    ///
    /// It sets the handler only then. Until that is done something counts as outstanding: whoever
    /// sets an action of its own waits for it, lest ours takes that one's place.
    func accept() -> Bool {
        outstanding.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
        return word(0, Offset.phase).pointee.compareExchange(
            expected: UInt32(FL_PHASE_MAPPED), desired: UInt32(FL_PHASE_ACCEPTED),
            ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// Takes note of the handler's being in place.
    func noteReadiness() {
        guard isAwaitingHandler, isReady else { return }
        isAwaitingHandler = false
        outstanding.pointee.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    }

    /// Whether the handler is in place. Before, a signal would be ignored, and never answered.
    var isReady: Bool {
        word(0, Offset.phase).pointee.load(ordering: .acquiring) == UInt32(FL_PHASE_READY)
    }

    /// Whether the program has set an action of its own for the sampling signal.
    var isDisplaced: Bool {
        word(0, Offset.displaced).pointee.load(ordering: .sequentiallyConsistent) != 0
    }

    /// Whether it prepares a filter for its system calls.
    var isFiltered: Bool {
        word(0, Offset.filtered).pointee.load(ordering: .sequentiallyConsistent) != 0
    }

    /// How often one of its threads was about to block the sampling signal.
    var masks: UInt32 { word(0, Offset.masks).pointee.load(ordering: .sequentiallyConsistent) }

    /// Whether one of its threads waits for us to trace it, because it will execute a program.
    var isAboutToExecute: Bool {
        word(0, Offset.execution).pointee.load(ordering: .acquiring)
            == UInt32(FL_EXECUTION_AHEAD)
    }

    func followExecution() {
        word(0, Offset.execution).pointee.store(
            UInt32(FL_EXECUTION_FOLLOWED), ordering: .releasing)
    }

    /// The program was not executed: the next attempt is a matter of its own.
    func forgetExecution() {
        word(0, Offset.execution).pointee.store(
            UInt32(FL_EXECUTION_NONE), ordering: .releasing)
    }

    // MARK: Threads

    /// nil when all are in use.
    func take() -> Int? { free.popLast() }

    /// Of a thread that ended: it will not answer any more.
    func giveBack(_ slot: Int) {
        if state(of: slot) == .requested { cancel(slot) }
        store(.idle, in: slot)
        free.append(slot)
    }

    enum State: UInt32 {
        case idle = 0
        case requested = 1
        case busy = 2
        case filled = 3
        case declined = 4
    }

    func state(of slot: Int) -> State {
        State(rawValue: word(slot, Offset.state).pointee.load(ordering: .acquiring)) ?? .busy
    }

    private func store(_ state: State, in slot: Int) {
        word(slot, Offset.state).pointee.store(state.rawValue, ordering: .releasing)
    }

    /// Makes a slot ready for its thread's answer. false when the program has set its own action
    /// in this very moment, or prepares a filter, or blocks the signal: nothing may be sent.
    ///
    /// - Parameters:
    ///   - stack: the mapping of its stack, as far as it is known.
    ///   - limit: the most to copy, in bytes.
    ///   - masks: what ``masks`` was when the thread's mask was looked at.
    func request(_ slot: Int, stack: Range<UInt64>, limit: Int, masks: UInt32) -> Bool {
        let head: UnsafeMutablePointer<fl_slot> = head(slot)
        head.pointee.stack_low = stack.lowerBound
        head.pointee.stack_high = stack.upperBound
        head.pointee.capacity = UInt64(max(0, min(limit, slotSize - Self.headSize)))
        // Whoever does that notes it first and then waits for what is outstanding.
        outstanding.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
        if isDisplaced || isFiltered || masks != self.masks {
            outstanding.pointee.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            return false
        }
        store(.requested, in: slot)
        return true
    }

    /// Takes back a request that nobody will answer.
    func cancel(_ slot: Int) {
        let (isOpen, _) = word(slot, Offset.state).pointee.compareExchange(
            expected: State.requested.rawValue, desired: State.idle.rawValue,
            ordering: .acquiringAndReleasing)
        if isOpen { outstanding.pointee.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
    }

    /// What to send along with the signal.
    func address(of slot: Int) -> UInt64 { address &+ UInt64(slot &* slotSize) }

    struct Answer {
        var time: MonotonicTime
        /// The thread's CPU time in nanoseconds.
        var cpu: Int64
        var registers: Registers
        var stack: StackCopy
        /// It was on an alternate signal stack: only a stop can copy both.
        var isOnAlternateStack: Bool
    }

    /// Takes a filled slot's contents and makes it idle again.
    func takeAnswer(_ slot: Int) -> Answer {
        let head: UnsafeMutablePointer<fl_slot> = head(slot)
        let size = max(0, min(Int(head.pointee.copied_size), slotSize - Self.headSize))
        let bytes = UnsafeRawBufferPointer(
            start: UnsafeRawPointer(base + slot * slotSize + Self.headSize), count: size)
        let answer = Answer(
            time: MonotonicTime(nanoseconds: max(0, head.pointee.time_ns)),
            cpu: head.pointee.cpu_ns, registers: Self.registers(head),
            stack: StackCopy(start: head.pointee.copied_start, bytes: [UInt8](bytes)),
            isOnAlternateStack: head.pointee.alternate != 0)
        store(.idle, in: slot)
        return answer
    }

    /// Takes back a slot whose thread may not make system calls any more.
    func takeRefusal(_ slot: Int) { store(.idle, in: slot) }

    /// The DWARF numbers of the registers, in the kernel's order.
    private static let kernelOrder = [8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16]

    private static func registers(_ head: UnsafeMutablePointer<fl_slot>) -> Registers {
        var registers = Registers()
        withUnsafeBytes(of: head.pointee.registers) { bytes in
            for (index, number) in kernelOrder.enumerated() {
                registers[number] = bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)
            }
        }
        return registers
    }

    // MARK: Memory

    private enum Offset {
        static let state = offset(\fl_slot.state)
        static let displaced = offset(\fl_shared.displaced)
        static let filtered = offset(\fl_shared.filtered)
        static let outstanding = offset(\fl_shared.outstanding)
        static let execution = offset(\fl_shared.execution)
        static let masks = offset(\fl_shared.masks)
        static let phase = offset(\fl_shared.phase)

        private static func offset<Head, Value>(_ field: KeyPath<Head, Value>) -> Int {
            MemoryLayout<Head>.offset(of: field) ?? 0
        }
    }

    private func head<Head>(_ slot: Int) -> UnsafeMutablePointer<Head> {
        precondition(slot >= 0 && slot < count)
        return (base + slot * slotSize).assumingMemoryBound(to: Head.self)
    }

    private func word(_ slot: Int, _ offset: Int) -> UnsafeMutablePointer<Atomic<UInt32>> {
        atomic(slot, offset)
    }

    private var outstanding: UnsafeMutablePointer<Atomic<Int32>> {
        atomic(0, Offset.outstanding)
    }

    private func atomic<Value>(_ slot: Int, _ offset: Int) -> UnsafeMutablePointer<Atomic<Value>> {
        precondition(slot >= 0 && slot < count)
        return (base + slot * slotSize + offset).assumingMemoryBound(to: Atomic<Value>.self)
    }
}
