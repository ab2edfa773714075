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

    static let headSize = MemoryLayout<fl_slot>.size

    /// Maps the descriptor `number` of process `pid`. nil when that fails.
    init?(pid: Int32, descriptor: Int32, address: UInt64, slotSize: Int, count: Int) {
        let path = "/proc/\(pid)/fd/\(descriptor)"
        guard let base = fl_map_shared(path, slotSize * count) else { return nil }
        self.base = base
        self.slotSize = slotSize
        self.count = count
        self.address = address
        free = Array((1..<count).reversed())
    }

    deinit {
        fl_unmap(base, slotSize * count)
    }

    /// Whether the program has set an action of its own for the sampling signal.
    var isDisplaced: Bool { state(of: 0) == .requested }

    /// nil when all are in use.
    func take() -> Int? { free.popLast() }

    func giveBack(_ slot: Int) {
        // A request may still be under way: its slot stays out of use.
        if state(of: slot) == .idle { free.append(slot) }
    }

    enum State: UInt32 {
        case idle = 0
        case requested = 1
        case busy = 2
        case filled = 3
    }

    func state(of slot: Int) -> State {
        State(rawValue: stateWord(slot).pointee.load(ordering: .acquiring)) ?? .busy
    }

    /// Makes a slot ready for its thread's answer.
    func request(_ slot: Int, stack: Range<UInt64>, mayCall: Bool) {
        let head = head(slot)
        head.pointee.may_call = mayCall ? 1 : 0
        head.pointee.stack_low = stack.lowerBound
        head.pointee.stack_high = stack.upperBound
        head.pointee.capacity = UInt64(slotSize - Self.headSize)
        stateWord(slot).pointee.store(State.requested.rawValue, ordering: .releasing)
    }

    /// Takes back a request whose signal could not be sent.
    func cancel(_ slot: Int) {
        stateWord(slot).pointee.store(State.idle.rawValue, ordering: .releasing)
    }

    /// What to send along with the signal.
    func address(of slot: Int) -> UInt64 { address &+ UInt64(slot &* slotSize) }

    struct Answer {
        /// nil where the handler was not allowed to ask.
        var time: MonotonicTime?
        var cpu: Int64?
        var registers: Registers
        var stack: StackCopy
    }

    /// Takes a filled slot's contents and makes it idle again.
    func takeAnswer(_ slot: Int) -> Answer {
        let head = head(slot)
        var registers = Registers()
        withUnsafeBytes(of: head.pointee.registers) { bytes in
            for number in 0..<Registers.count {
                registers[number] = bytes.loadUnaligned(fromByteOffset: 8 * number, as: UInt64.self)
            }
        }
        let size = min(head.pointee.copied_size, UInt64(slotSize - Self.headSize))
        let bytes = UnsafeRawBufferPointer(
            start: UnsafeRawPointer(base + slot * slotSize + Self.headSize), count: Int(size))
        let answer = Answer(
            time: head.pointee.time_ns > 0
                ? MonotonicTime(nanoseconds: head.pointee.time_ns) : nil,
            cpu: head.pointee.cpu_ns > 0 ? head.pointee.cpu_ns : nil,
            registers: registers,
            stack: StackCopy(start: head.pointee.copied_start, bytes: [UInt8](bytes)))
        stateWord(slot).pointee.store(State.idle.rawValue, ordering: .releasing)
        return answer
    }

    private func head(_ slot: Int) -> UnsafeMutablePointer<fl_slot> {
        precondition(slot >= 0 && slot < count)
        return (base + slot * slotSize).assumingMemoryBound(to: fl_slot.self)
    }

    private func stateWord(_ slot: Int) -> UnsafeMutablePointer<Atomic<UInt32>> {
        precondition(slot >= 0 && slot < count)
        return (base + slot * slotSize).assumingMemoryBound(to: Atomic<UInt32>.self)
    }
}
