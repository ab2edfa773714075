import Architecture
import CAgent
import CSystem
package import ProfileModel
import Synchronization
import System

/// The part of the area through which stacks are requested: a slot for each thread that is sampled
/// by signal, and a few buffers for the copies. The handler writes a slot and its buffer only
/// between our request and its answer, so there is nothing to overwrite, and no thread ever waits.
///
/// Unsafe code: every access goes through a slot's number, checked against their count. Values that
/// the program may have written are checked before use.
package final class SharedSlots {
    private let area: AgentMemory
    private let cookie: UInt64
    private var free: [Int]
    private var freeBuffers: AgentMemory.Buffers.Free
    /// The buffer that a slot's answer will be in.
    private var buffers: [Range<Int>?]

    /// - Parameter cookie: the cookie that the area has.
    package init(area: AgentMemory, cookie: UInt64) {
        self.area = area
        self.cookie = cookie
        signal = Int32(clamping: area[\.sample_signal])
        spareSignal = Int32(clamping: area[\.spare_signal])
        free = Array((0..<Int(FL_MOST_SLOTS)).reversed())
        freeBuffers = AgentMemory.Buffers.Free(area.buffers)
        buffers = [Range<Int>?](repeating: nil, count: Int(FL_MOST_SLOTS))
    }

    /// A value that a program will not send itself by chance: 48 bits, not 0.
    package static func makeCookie() -> UInt64 { .random(in: 1..<(1 << 48)) }

    // MARK: The process

    /// Whether the handler is in place, and we notice when the program sets another. Before, a
    /// signal would be ignored, and never answered.
    package var isReady: Bool { area.isSettled && area.seesActions }
    package var isDisplaced: Bool { area.isDisplaced }
    /// Whether there is room for a signal's frame, wherever the thread's stack pointer is then.
    package func hasAlternateStack(_ tid: Int32) -> Bool { area.hasAlternateStack(tid) }
    package var hasSpare: Bool { area.hasSpare }
    package var isFiltered: Bool { area.isFiltered }

    /// The signal to send, and the spare one for a program that uses the first itself.
    package let signal: Int32
    package let spareSignal: Int32

    /// How often a thread of the process was about to block the sampling signal.
    package var masks: UInt32 { area.value(\.masks) }

    /// Whether a thread is about to block it now.
    package func lookForMasking() -> Bool { masking.look(area.value(\.masking), at: masks) }
    private var masking = MaskingCount()

    // MARK: Threads

    /// nil if all are in use.
    package func take() -> Int? { free.popLast() }

    /// Whether there are enough for threads that need more than one.
    package var arePlenty: Bool { free.count > Int(FL_MOST_SLOTS) / 2 }

    /// For a thread that ended: it will not answer any more.
    package func giveBack(_ slot: Int) {
        if state(of: slot) == .requested { cancel(slot) }
        store(.idle, in: slot)
        giveBackBuffer(of: slot)
        free.append(slot)
    }

    package enum State: UInt32 {
        case idle = 0
        case requested = 1
        case busy = 2
        case filled = 3
        case declined = 4
    }

    package func state(of slot: Int) -> State {
        State(rawValue: stateWord(slot).pointee.load(ordering: .acquiring)) ?? .busy
    }

    private func store(_ state: State, in slot: Int) {
        stateWord(slot).pointee.store(state.rawValue, ordering: .releasing)
    }

    package enum Request {
        /// The signal may be sent. Call ``wasSent()`` then: threads may wait for it.
        case ready
        /// Other requests under way take up all the room.
        case noRoom
        /// The program has set its own action in this very moment, or prepares a filter, or blocks
        /// the signal: nothing may be sent.
        case refused
    }

    /// Makes a slot ready for its thread's answer.
    ///
    /// - Parameters:
    ///   - tid: the thread, which must have an alternate stack of ours; nil: there is room elsewhere.
    ///   - stack: the mapping of its stack, as far as it is known.
    ///   - limit: the most to copy, in bytes.
    ///   - masks: the value of ``masks`` when the thread's mask was read.
    ///   - isSpare: whether the spare signal will be sent.
    ///   - state: where an interpreter keeps the thread's state; 0: its frames are not copied.
    package func request(
        _ slot: Int, of tid: Int32? = nil, stack: Range<UInt64>, limit: Int, masks: UInt32,
        bySpare isSpare: Bool = false,
        frames state: UInt64 = 0
    ) -> Request {
        guard prepare(slot, stack: stack, limit: limit, frames: state) else { return .noRoom }
        // The program notes such a change before it makes it, and then waits: for all outstanding
        // answers, or, if it changes only the thread's own mask, until no signal is being sent.
        area.set(\.sending, 1)
        area.outstanding.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
        let isTaken = isSpare ? !hasSpare : isDisplaced
        let lacksRoom = tid.map { !hasAlternateStack($0) } ?? false
        if isTaken || isFiltered || masks != self.masks || lookForMasking() || lacksRoom {
            area.outstanding.pointee.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            area.set(\.sending, 0)
            giveBackBuffer(of: slot)
            return .refused
        }
        store(.requested, in: slot)
        return .ready
    }

    /// - Returns: whether there is room for the answer.
    private func prepare(
        _ slot: Int, stack: Range<UInt64>, limit: Int, frames state: UInt64
    ) -> Bool {
        let head = head(slot)
        guard let buffer = buffers[slot] ?? takeBuffer(for: head, stack, frames: state)
        else { return false }
        buffers[slot] = buffer
        head.pointee.stack_low = stack.lowerBound
        head.pointee.stack_high = stack.upperBound
        let room = state == 0 ? 0 : min(Self.framesRoom, buffer.count / 2)
        head.pointee.capacity = UInt32(clamping: min(limit, buffer.count - room))
        head.pointee.frames_room = UInt32(clamping: room)
        head.pointee.buffer = UInt64(buffer.lowerBound)
        head.pointee.thread = frameList == nil ? 0 : state
        head.pointee.frames_size = 0
        return true
    }

    /// The requested signal was sent, or cannot be sent.
    package func wasSent() { area.set(\.sending, 0) }

    /// Takes back a request that will not be answered.
    package func cancel(_ slot: Int) {
        guard takeBack(slot) else { return }
        area.outstanding.pointee.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        giveBackBuffer(of: slot)
    }

    /// - Returns: false if its thread is answering, or has answered.
    private func takeBack(_ slot: Int) -> Bool {
        stateWord(slot).pointee.compareExchange(
            expected: State.requested.rawValue, desired: State.idle.rawValue,
            ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// The value to send with the signal.
    package func value(for slot: Int) -> UInt64 { cookie << 16 | UInt64(slot) }

    /// When a filled slot was filled.
    package func timeOfAnswer(_ slot: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: max(0, head(slot).pointee.time_ns))
    }

    /// Takes a filled slot's contents and makes it idle again.
    package func takeAnswer(_ slot: Int) -> CapturedStack {
        let head = head(slot)
        let size = max(0, Int(head.pointee.copied_size))
        let bytes =
            buffers[slot].map { area.copy(at: $0.lowerBound, count: min(size, $0.count)) } ?? []
        // It is answered from the program's own code: the kernel has no frames.
        let answer = CapturedStack(
            time: timeOfAnswer(slot), cpu: head.pointee.cpu_ns,
            snapshot: Snapshot(
                registers: Self.registers(head),
                stack: StackCopy(start: head.pointee.copied_start, bytes: bytes),
                frames: frames(of: slot, behind: size)),
            isOnAlternateStack: head.pointee.alternate != 0)
        free(slot)
        return answer
    }

    /// Frees a slot when the handler is done: it has answered, or declined because the thread may
    /// not make system calls any more.
    package func free(_ slot: Int) {
        store(.idle, in: slot)
        giveBackBuffer(of: slot)
    }

    // MARK: Timers

    /// See ``AgentMemory/addTimer(tid:signal:descriptor:slots:)``.
    package func addTimer(tid: Int32, signal: Int32, descriptor: Int32, own: [Int]) -> Int? {
        area.addTimer(tid: tid, signal: signal, descriptor: descriptor, slots: own)
    }

    /// Makes a slot ready for its thread's answer to a timer's signal, if there is room: see
    /// ``request(_:stack:limit:masks:bySpare:frames:)``. Threads do not wait for such answers, but
    /// for the timer's end.
    ///
    /// - Returns: whether there is room.
    package func arm(_ slot: Int, stack: Range<UInt64>, limit: Int, frames state: UInt64) -> Bool {
        guard prepare(slot, stack: stack, limit: limit, frames: state) else { return false }
        store(.requested, in: slot)
        return true
    }

    package var hasRoomForTimer: Bool { area.hasRoomForTimer }
    /// Whether more than half of the buffers of either size is free.
    package var haveRoomToSpare: Bool { freeBuffers.areMostOf(area.buffers) }

    /// Takes back the request of an armed slot.
    package func disarm(_ slot: Int) { if takeBack(slot) { giveBackBuffer(of: slot) } }

    package func removeTimer(_ place: Int, descriptor: Int32) {
        area.removeTimer(place, descriptor: descriptor)
    }

    // MARK: Interpreters' frames

    /// Where the interpreter keeps its frames; nil: there is no interpreter, or the place is not
    /// known.
    package private(set) var frameList: FrameListLayout?

    /// Has an effect from the next requests on. The program may run meanwhile.
    ///
    /// - Returns: whether our code in the program can follow such a list.
    @discardableResult
    package func copyFrames(of list: FrameListLayout) -> Bool {
        guard let known = fl_frame_list(list) else { return false }
        area.setFrames(known)
        frameList = list
        return true
    }

    private func frames(of slot: Int, behind size: Int) -> RuntimeCopy? {
        guard let frameList, let buffer = buffers[slot],
            let length = Int(exactly: head(slot).pointee.frames_size), length > 0
        else { return nil }
        guard size <= buffer.count else { return nil }
        let start = (size + 7) & ~7
        guard start < buffer.count, length <= buffer.count - start else { return nil }
        return RuntimeCopy(
            area.copy(at: buffer.lowerBound + start, count: length), of: frameList)
    }

    /// Room for the most frames that our code copies, and for its working data, in bytes. Like the
    /// buffers' sizes, it is a multiple of eight: the frames begin at one.
    private static let framesRoom = 64 << 10

    // MARK: Buffers

    private func giveBackBuffer(of slot: Int) {
        if let buffer = buffers[slot] { freeBuffers.append(buffer) }
        buffers[slot] = nil
    }

    /// Takes a small buffer if the last answer shows that the thread is far from needing a large
    /// one.
    private func takeBuffer(
        for head: UnsafeMutablePointer<fl_slot>, _ stack: Range<UInt64>, frames state: UInt64
    ) -> Range<Int>? {
        let last = Self.registers(head).stackPointer
        // An interpreter's frames take half of the buffer.
        let room = AgentMemory.Buffers.smallSize / (state == 0 ? 1 : 2)
        let isShallow = stack.contains(last) && stack.upperBound - last < UInt64(room / 2)
        return freeBuffers.take(preferringSmall: isShallow)
    }

    private static func registers(_ head: UnsafeMutablePointer<fl_slot>) -> Registers {
        var registers = Registers()
        withUnsafeBytes(of: head.pointee.registers) { bytes in
            for (index, number) in RegisterOrder.signalContext.enumerated() {
                registers[number] = bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)
            }
        }
        return registers
    }

    // MARK: Memory

    private func place(_ slot: Int) -> UnsafeMutableRawPointer {
        precondition(slot >= 0 && slot < Int(FL_MOST_SLOTS))
        return area.base + Int(FL_SLOTS) + slot * Int(FL_SLOT_SIZE)
    }

    private func head(_ slot: Int) -> UnsafeMutablePointer<fl_slot> {
        place(slot).assumingMemoryBound(to: fl_slot.self)
    }

    private func stateWord(_ slot: Int) -> UnsafeMutablePointer<Atomic<UInt32>> {
        place(slot).assumingMemoryBound(to: Atomic<UInt32>.self)
    }
}

extension AgentMemory.Buffers {
    /// The buffers that are not in use.
    package struct Free {
        private var small: [Range<Int>]
        private var large: [Range<Int>]

        package init(_ all: AgentMemory.Buffers) {
            (small, large) = (all.small.reversed(), all.large.reversed())
        }

        /// nil: all are in use.
        package mutating func take(preferringSmall: Bool) -> Range<Int>? {
            preferringSmall
                ? small.popLast() ?? large.popLast() : large.popLast() ?? small.popLast()
        }

        package func areMostOf(_ all: AgentMemory.Buffers) -> Bool {
            2 * small.count > all.small.count && 2 * large.count >= all.large.count
        }

        package mutating func append(_ buffer: Range<Int>) {
            if buffer.count <= AgentMemory.Buffers.smallSize {
                small.append(buffer)
            } else {
                large.append(buffer)
            }
        }
    }
}
