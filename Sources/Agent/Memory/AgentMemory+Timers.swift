import CAgent
import Synchronization

/// The list of the kernel's timers that send the program's threads the sampling signal.
///
/// Unsafe code: entries lie within the state, and their places are checked.
extension AgentMemory {
    package static let mostTimers = Int(FL_MOST_TIMERS)
    package static let slotsPerTimer = Int(FL_TIMER_SLOTS)

    /// Notes a thread's timer, before it sends anything.
    ///
    /// - Parameters:
    ///   - tid: the thread's id, as the process knows it.
    ///   - signal: the signal that it sends.
    ///   - slots: the thread's own, for as long as it lives.
    /// - Returns: the entry's place; nil: all are in use.
    package func addTimer(tid: Int32, signal: Int32, descriptor: Int32, slots: [Int]) -> Int? {
        guard let free = freeTimer else { return nil }
        for index in 0..<Self.slotsPerTimer {
            let slot = index < slots.count ? UInt16(clamping: slots[index]) : UInt16(FL_NO_SLOT)
            write(
                [UInt8(truncatingIfNeeded: slot), UInt8(truncatingIfNeeded: slot >> 8)],
                at: timer(free) + (MemoryLayout<fl_timer>.offset(of: \.slots) ?? 0) + 2 * index)
        }
        timerWord(free, \.signal).pointee.store(
            UInt32(bitPattern: signal), ordering: .sequentiallyConsistent)
        let number = UInt32(bitPattern: descriptor &+ 1)
        timerWord(free, \.descriptor).pointee.store(number, ordering: .sequentiallyConsistent)
        let id = UInt32(bitPattern: tid)
        timerWord(free, \.tid).pointee.store(id, ordering: .sequentiallyConsistent)
        return free
    }

    /// The timer sends nothing any more: a thread that waits for that goes on. A thread that has
    /// waited in vain has removed the entry, and its place may belong to another timer.
    package func removeTimer(_ place: Int, descriptor: Int32) {
        guard (0..<Self.mostTimers).contains(place) else { return }
        let (isOwn, _) = timerWord(place, \.descriptor).pointee.compareExchange(
            expected: UInt32(bitPattern: descriptor &+ 1), desired: 0,
            ordering: .sequentiallyConsistent)
        guard isOwn else { return }
        timerWord(place, \.tid).pointee.store(0, ordering: .sequentiallyConsistent)
    }

    package var hasRoomForTimer: Bool { freeTimer != nil }

    private var freeTimer: Int? {
        (0..<Self.mostTimers).first {
            timerWord($0, \.tid).pointee.load(ordering: .sequentiallyConsistent) == 0
        }
    }

    private func timer(_ place: Int) -> Int {
        Int(FL_STATE) + (MemoryLayout<fl_state>.offset(of: \.timers) ?? 0)
            + place * MemoryLayout<fl_timer>.stride
    }

    private func timerWord(
        _ place: Int, _ field: KeyPath<fl_timer, UInt32>
    ) -> UnsafeMutablePointer<Atomic<UInt32>> {
        (base + timer(place) + (MemoryLayout<fl_timer>.offset(of: field) ?? 0))
            .assumingMemoryBound(to: Atomic<UInt32>.self)
    }
}
