import Architecture
import CSignpost
import CSystem
package import ProfileModel
import Synchronization
import System

/// The memory through which a program's signposts arrive (`firstlight/signpost.h` is the other
/// side): many threads write, only we read, and no thread waits. An event that finds no room is
/// dropped, and the program counts it. An event that a thread has begun to write but not finished
/// is skipped, and taken once it is finished.
///
/// Unsafe code: every access goes through an event's number, taken modulo the number of slots. All
/// values that the program may have written are checked before use.
package final class SignpostRing {
    /// Events that were lost since the start, and why.
    package struct Losses: Hashable, Sendable {
        /// The ring was full.
        package var dropped: UInt64 = 0
        /// The slot's content is not from our code: the program has damaged the ring.
        package var damaged: UInt64 = 0
        /// Events with longer names, categories or subsystems than are kept. The events themselves
        /// are kept.
        package var truncated: UInt64 = 0
    }

    /// Room for 8 ms at a million events a second.
    package static let defaultEvents = 8192
    /// How many unfinished events are remembered. If there are more, reading stops until one is
    /// finished.
    package static let pendingLimit = 512

    private let base: UnsafeMutableRawPointer
    private let shift: UInt64
    private var labels = SignpostLabels()
    /// One event's texts, copied out of the program's reach.
    private let text = UnsafeMutableRawBufferPointer.allocate(
        byteCount: FIRSTLIGHT_NAME_LIMIT + 2 * FIRSTLIGHT_LABEL_LIMIT, alignment: 8)
    /// Numbers of events that a thread has begun to write.
    private var pending: [UInt64] = []
    private var taken: UInt64 = 0
    private var lastDropped: UInt64 = 0
    private let start: MonotonicTime
    private var now: MonotonicTime
    package private(set) var losses = Losses()

    /// The size of a ring for that many events, in bytes: whole pages. Only pages that are used
    /// take memory.
    package static func size(events: Int = defaultEvents) -> Int {
        let bytes = slotsOffset + (1 << shift(events)) * slotSize
        return VirtualMemory.wholePages(bytes)
    }

    private static let slotSize = MemoryLayout<firstlight_signpost_slot>.size
    private static let slotsOffset = MemoryLayout<firstlight_signpost_ring>.size

    private static func shift(_ events: Int) -> Int {
        let wanted = max(16, min(events, 1 << 20))
        return Int.bitWidth - (wanted - 1).leadingZeroBitCount
    }

    /// Makes a ring of shared memory that is all zero, as new memory is.
    ///
    /// - Parameters:
    ///   - memory: ``size(events:)`` bytes, aligned to a page. The caller keeps owning them.
    ///   - process: the program's id, as it knows itself. Children that it forks inherit the
    ///     memory; the id tells them apart.
    ///   - start: no event can be older than this.
    package init(
        memory: UnsafeMutableRawPointer, events: Int = defaultEvents, process: Int32,
        start: MonotonicTime = .now
    ) {
        base = memory
        shift = UInt64(Self.shift(events))
        self.start = start
        now = start
        let head = memory.assumingMemoryBound(to: firstlight_signpost_ring.self)
        head.pointee.version = UInt32(FIRSTLIGHT_SIGNPOST_VERSION)
        head.pointee.process = UInt32(bitPattern: process)
        head.pointee.shift = UInt32(shift)
        // Random, so that an interval begun in another recording finds no match here.
        head.pointee.first_id = UInt64.random(in: 1 << 32..<1 << 62) << 1 | 1
    }

    deinit { text.deallocate() }

    /// The events that are complete. A beginning always comes before its end.
    package func poll() -> [SignpostEvent] {
        var events: [SignpostEvent] = []
        // Read this first: then we see every event that was complete when a later one took its
        // slot.
        let given = word(Offset.given).value
        countDropped()
        takePending(into: &events, given: given)
        guard given &- taken <= count else {
            // Our protocol does not allow this. We do not know which events were overwritten.
            losses.damaged &+= 1
            taken = given
            word(Offset.taken).set(taken)
            return events
        }
        events.reserveCapacity(Int(given &- taken))
        while taken != given, pending.count < Self.pendingLimit {
            take(taken, into: &events)
            taken &+= 1
        }
        word(Offset.taken).set(taken)
        return events
    }

    /// Returns the memory's pages to the kernel. The program may still write to it, but no recorder
    /// will read it. Call it only when all recorders are done: the ring is empty and unusable
    /// afterwards.
    package func release() {
        _ = fl_release_shared(base, slotsOffset + (1 << Int(shift)) * slotSize)
    }

    private var slotSize: Int { Self.slotSize }
    private var slotsOffset: Int { Self.slotsOffset }
    private var count: UInt64 { 1 << shift }

    private func countDropped() {
        let dropped = word(Offset.dropped).value
        // The count only grows; otherwise something else has written there.
        if dropped > lastDropped { losses.dropped &+= dropped - lastDropped }
        lastDropped = dropped
    }

    private func takePending(into events: inout [SignpostEvent], given: UInt64) {
        guard !pending.isEmpty else { return }
        var still: [UInt64] = []
        for number in pending {
            let turn = turn(of: number)
            if turn.value == complete(number) {
                read(number, into: &events)
                // Other events may have skipped this slot, but none is a full round ahead.
                turn.set(2 &* ((given >> shift) &+ 2))
            } else {
                still.append(number)
            }
        }
        pending = still
    }

    private func take(_ number: UInt64, into events: inout [SignpostEvent]) {
        let turn = turn(of: number)
        switch turn.value {
        case complete(number):
            read(number, into: &events)
            turn.set(free(number) &+ 2)
        case free(number):
            pending.append(number)
        default:
            break  // skipped: the slot is still pending for an earlier event
        }
    }

    private func free(_ number: UInt64) -> UInt64 { 2 &* (number >> shift) }
    private func complete(_ number: UInt64) -> UInt64 { free(number) &+ 1 }

    private func read(_ number: UInt64, into events: inout [SignpostEvent]) {
        guard let event = event(base + offset(of: number)) else {
            losses.damaged &+= 1
            return
        }
        events.append(event)
    }

    /// Reads each field only once, so that the checked value is the one used.
    private func event(_ slot: UnsafeMutableRawPointer) -> SignpostEvent? {
        let kind: SignpostEvent.Kind
        switch Int(slot.load(fromByteOffset: Offset.kind, as: UInt8.self)) {
        case FIRSTLIGHT_SIGNPOST_EVENT: kind = .event
        case FIRSTLIGHT_SIGNPOST_BEGIN: kind = .begin
        case FIRSTLIGHT_SIGNPOST_END: kind = .end
        default: return nil
        }
        let time = slot.load(fromByteOffset: Offset.time, as: Int64.self)
        let name = Int(slot.load(fromByteOffset: Offset.nameLength, as: UInt8.self))
        let category = Int(slot.load(fromByteOffset: Offset.categoryLength, as: UInt8.self))
        let subsystem = Int(slot.load(fromByteOffset: Offset.subsystemLength, as: UInt8.self))
        guard name <= FIRSTLIGHT_NAME_LIMIT, category <= FIRSTLIGHT_LABEL_LIMIT,
            subsystem <= FIRSTLIGHT_LABEL_LIMIT, isPossible(time)
        else { return nil }
        let flags = slot.load(fromByteOffset: Offset.flags, as: UInt8.self)
        let isTruncated = flags & UInt8(FIRSTLIGHT_SIGNPOST_TRUNCATED) != 0
        if isTruncated { losses.truncated &+= 1 }
        let id = slot.load(fromByteOffset: Offset.id, as: UInt64.self)
        let isOwn = flags & UInt8(FIRSTLIGHT_SIGNPOST_OWN_ID) != 0
        let key = SignpostLabels.Key(
            bytes: [], nameLength: name, categoryLength: category, isTruncated: isTruncated)
        text.copyMemory(
            from: UnsafeRawBufferPointer(
                start: slot + Offset.text, count: name + category + subsystem))
        return SignpostEvent(
            kind: kind, identity: isOwn ? .chosen(id) : .given(id),
            label: labels.label(
                key, bytes: UnsafeRawBufferPointer(rebasing: text[..<(name + category + subsystem)])
            ),
            thread: slot.load(fromByteOffset: Offset.thread, as: Int32.self),
            time: MonotonicTime(nanoseconds: time))
    }

    private func isPossible(_ nanoseconds: Int64) -> Bool {
        let time = MonotonicTime(nanoseconds: nanoseconds)
        if time > now { now = .now }
        return time >= start && time <= now
    }

    // MARK: Memory

    private enum Offset {
        static let taken = offset(\firstlight_signpost_ring.taken)
        static let given = offset(\firstlight_signpost_ring.given)
        static let dropped = offset(\firstlight_signpost_ring.dropped)
        static let turn = offset(\firstlight_signpost_slot.turn)
        static let time = offset(\firstlight_signpost_slot.time_ns)
        static let id = offset(\firstlight_signpost_slot.id)
        static let thread = offset(\firstlight_signpost_slot.thread)
        static let kind = offset(\firstlight_signpost_slot.kind)
        static let flags = offset(\firstlight_signpost_slot.flags)
        static let nameLength = offset(\firstlight_signpost_slot.name_length)
        static let categoryLength = offset(\firstlight_signpost_slot.category_length)
        static let subsystemLength = offset(\firstlight_signpost_slot.subsystem_length)
        static let text = offset(\firstlight_signpost_slot.text)

        private static func offset<Head, Value>(_ field: KeyPath<Head, Value>) -> Int {
            MemoryLayout<Head>.offset(of: field) ?? 0
        }
    }

    private func offset(of number: UInt64) -> Int {
        slotsOffset + Int(number & (count - 1)) * slotSize
    }

    private func turn(of number: UInt64) -> AtomicWord {
        AtomicWord(base + offset(of: number) + Offset.turn)
    }

    private func word(_ offset: Int) -> AtomicWord { AtomicWord(base + offset) }
}

/// A word of the ring that both sides may access at any time.
private struct AtomicWord {
    private let pointer: UnsafeMutablePointer<Atomic<UInt64>>

    init(_ address: UnsafeMutableRawPointer) {
        pointer = address.assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    /// A thread that reads this value also sees everything that was written before it.
    var value: UInt64 { pointer.pointee.load(ordering: .acquiring) }

    func set(_ value: UInt64) { pointer.pointee.store(value, ordering: .releasing) }
}
