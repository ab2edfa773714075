import Architecture
package import CAgent
import CSystem
import Glibc
package import ProcessIO
import ProfileModel
package import Synchronization

/// The memory that the recorder shares with one program image: our code, and the data that both
/// sides write (`CAgent.h` describes the layout).
///
/// Unsafe code: every access lies within the mapped size. A reader of values that the program may
/// have written checks them.
package final class AgentMemory {
    /// Size of the mapping, in bytes; only pages in use take memory.
    package let size: Int
    /// Where stacks are copied to, relative to the area's beginning; each buffer serves one request
    /// at a time.
    package let buffers: Buffers
    /// The area's address in the program; until ``isSettled``, the address that it should get.
    package private(set) var address: UInt64 = 0
    /// Where the island is in the program, if it has one; known once the area has settled.
    package private(set) var islandRange: Range<UInt64>?
    /// The memory's descriptor, while a process is still to inherit it.
    private var descriptor: Int32
    package let base: UnsafeMutableRawPointer
    private var isPrepared = false
    private var hasSettled = false

    /// The size of an area, in bytes.
    ///
    /// - Parameter stackBytes: how many bytes of a stack are copied at most.
    package static func size(stackBytes: Int) -> Int {
        Buffers(stackBytes: stackBytes).end
    }

    /// True if the process's limits allow an area. Beyond them the process would be killed, or its
    /// own allocations would fail.
    package static func fits(_ process: any ProcessAccess, stackBytes: Int) -> Bool {
        process.fileSizeLimit >= UInt64(size(stackBytes: stackBytes))
            && process.addressSpaceLimit == .max
    }

    private init?(descriptor: Int32, stackBytes: Int) {
        buffers = Buffers(stackBytes: stackBytes)
        size = buffers.end
        guard descriptor >= 0 else { return nil }
        guard let base = fl_map_memory(descriptor, size) else {
            close(descriptor)
            return nil
        }
        self.base = base
        self.descriptor = descriptor
    }

    /// Makes the memory for a process that will inherit it. nil: not available.
    package convenience init?(stackBytes: Int) {
        self.init(
            descriptor: fl_make_memory("firstlight", Self.size(stackBytes: stackBytes)),
            stackBytes: stackBytes)
    }

    /// Takes the memory that a thread of the process has made. nil: there is none, or not yet.
    package convenience init?(of process: any ProcessAccess, descriptor: Int32, stackBytes: Int) {
        let size = Self.size(stackBytes: stackBytes)
        self.init(
            descriptor: process.open(descriptor) { fl_open_memory($0, size) },
            stackBytes: stackBytes)
    }

    deinit {
        fl_unmap(base, size)
        if descriptor >= 0 { close(descriptor) }
    }

    /// True if the process has this memory under the given number; only valid until
    /// ``wasInherited()``. Any of its threads may put another file there, so the answer is certain
    /// only while none of them runs.
    package func isOpen(in process: any ProcessAccess, as number: Int32) -> Bool {
        process.shares(descriptor, as: number)
    }

    /// The memory for a child to inherit, until ``wasInherited()``.
    package var inheritable: Int32 { descriptor }

    package func wasInherited() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    /// The area's addresses in the program.
    package var range: Range<UInt64> { address..<(address &+ UInt64(size)) }
    /// The part that holds our code.
    package var code: Range<UInt64> { address..<(address &+ UInt64(FL_STATE)) }

    package func position(_ offset: Int) -> UInt64 { address &+ UInt64(offset) }

    // MARK: Filling in

    /// Writes the parts that do not depend on the program, so that the program need not be stopped
    /// for it.
    package func prepare() {
        guard !isPrepared else { return }
        isPrepared = true
        write(AgentCode.bytes, at: 0)
        // Touch these pages now: otherwise they would have to be made while the program is stopped,
        // or runs. The first word of the state may be the program's already.
        for offset in [
            FL_STATE, FL_SLOTS, FL_RECORDS, FL_LIBRARIES, FL_OPENS, FL_STACKS, FL_ENTRIES,
        ] {
            write([0], at: Int(offset) + 64)
        }
        // The first use of a key path takes longer.
        _ = self[\.settled_cpu_ns]
    }

    /// Writes all content. A thread that waits for it continues.
    package func fill(_ contents: Contents) {
        address = contents.place
        islandRange = nil
        hasSettled = false
        prepare()
        let state = contents.state(size: size)
        // The program may have given up already; the first word shows that.
        let first = MemoryLayout.size(ofValue: state.phase)
        withUnsafeBytes(of: state) { write(Array($0.dropFirst(first)), at: Int(FL_STATE) + first) }
        if let initializers = contents.initializers { fill(initializers) }
        for patch in contents.patchesThatFit {
            guard let call = patch.call else { continue }
            prepareReturn(of: call, to: patch.address &+ 7, word: patch.word)
        }
    }

    /// True if a program can have a mapping there: the program may claim anything.
    package static func isPlace(_ address: UInt64, size: Int) -> Bool {
        address != 0 && address % VirtualMemory.pageSize == 0
            && address < VirtualMemory.programsEnd - UInt64(size)
    }

    /// Lets the thread continue that waits for the content. false: the thread has stopped waiting.
    package func open() -> Bool {
        word(\.phase).pointee.compareExchange(
            expected: UInt32(FL_PHASE_EMPTY), desired: UInt32(FL_PHASE_FILLED),
            ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// True if the program uses the area.
    package var isSettled: Bool {
        guard value(\.phase) == UInt32(FL_PHASE_SETTLED) else { return false }
        // Keep the addresses now: later a child may overwrite them.
        if !hasSettled { keepPlaces() }
        hasSettled = true
        return true
    }

    private func keepPlaces() {
        if Self.isPlace(self[\.address], size: size) { address = self[\.address] }
        let (island, islandSize) = (self[\.island], TrampolineSpace.size)
        if Self.isPlace(island, size: islandSize) {
            islandRange = island..<(island &+ UInt64(islandSize))
        }
    }

    /// True if the program runs without the area: it could not be mapped, or was not filled in.
    package var isAbandoned: Bool { value(\.phase) == UInt32(FL_PHASE_ABANDONED) }

    package func write(_ bytes: [UInt8], at offset: Int) {
        precondition(offset >= 0 && offset + bytes.count <= size)
        UnsafeMutableRawBufferPointer(start: base + offset, count: bytes.count)
            .copyBytes(from: bytes)
    }

    // MARK: Reading

    package func read<Value>(_ type: Value.Type, at offset: Int) -> Value {
        precondition(offset >= 0 && offset + MemoryLayout<Value>.size <= size)
        return (base + offset).loadUnaligned(as: type)
    }

    package func copy(at offset: Int, count: Int) -> [UInt8] {
        precondition(offset >= 0 && count >= 0 && offset + count <= size)
        return [UInt8](UnsafeRawBufferPointer(start: base + offset, count: count))
    }

    // MARK: The state's words

    package static func offset<Value>(_ field: KeyPath<fl_state, Value>) -> Int {
        Int(FL_STATE) + (MemoryLayout<fl_state>.offset(of: field) ?? 0)
    }

    /// A field that only one side writes, or that is not written any more.
    package subscript<Value>(field: KeyPath<fl_state, Value>) -> Value {
        (base + Self.offset(field)).loadUnaligned(as: Value.self)
    }

    package func set(_ field: KeyPath<fl_state, UInt64>, _ value: UInt64) {
        (base + Self.offset(field)).assumingMemoryBound(to: Atomic<UInt64>.self).pointee
            .store(value, ordering: .sequentiallyConsistent)
    }

    /// Tells our code where an interpreter keeps its frames.
    package func setFrames(_ list: fl_frame_list) {
        withUnsafeBytes(of: list) { write(Array($0), at: Self.offset(\.frames)) }
    }

    package func word(_ field: KeyPath<fl_state, UInt32>) -> UnsafeMutablePointer<Atomic<UInt32>> {
        (base + Self.offset(field)).assumingMemoryBound(to: Atomic<UInt32>.self)
    }

    package var outstanding: UnsafeMutablePointer<Atomic<Int32>> {
        (base + Self.offset(\.outstanding)).assumingMemoryBound(to: Atomic<Int32>.self)
    }

    package func value(_ field: KeyPath<fl_state, UInt32>) -> UInt32 {
        word(field).pointee.load(ordering: .sequentiallyConsistent)
    }

    package func set(_ field: KeyPath<fl_state, UInt32>, _ value: UInt32) {
        word(field).pointee.store(value, ordering: .sequentiallyConsistent)
    }
}

extension AgentMemory {
    /// Most stacks are shallow, and few threads have a core at once. So there are many small
    /// buffers, and some with room for the largest copy.
    package struct Buffers {
        package static let start = Int(FL_RING) + SignpostRing.size()
        package static let mostSmall = 64
        package static let smallSize = 32 << 10
        private static let mostLarge = max(8, min(64, 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        private static let allLarge = 16 << 20

        package let small: [Range<Int>]
        package let large: [Range<Int>]
        package let end: Int

        package init(stackBytes: Int) {
            let size = VirtualMemory.wholePages(max(1, stackBytes))
            var end = Self.start
            func make(_ count: Int, _ size: Int) -> [Range<Int>] {
                defer { end += count * size }
                return (0..<count).map { (end + $0 * size)..<(end + ($0 + 1) * size) }
            }
            small = make(Self.mostSmall, min(Self.smallSize, size))
            large =
                size <= Self.smallSize
                ? [] : make(max(8, min(Self.mostLarge, Self.allLarge / size)), size)
            self.end = end
        }

        package var count: Int { small.count + large.count }
    }
}

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
