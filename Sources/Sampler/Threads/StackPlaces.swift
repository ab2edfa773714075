import Architecture
import ProcessIO
import ProfileModel

/// Finds the stacks that threads are on.
struct StackPlaces {
    private let process: any ProcessAccess
    /// How far the first thread's stack may grow, in bytes, and where it begins; nil: not read yet.
    private var first: (limit: UInt64, start: UInt64)?

    init(_ process: any ProcessAccess) { self.process = process }

    /// - Parameter found: the mapping that a thread's stack pointer points into.
    mutating func place(
        of thread: TracedThread, at pointer: UInt64, in found: MappingWatch.Region
    ) -> StackPlace {
        let region =
            found.isStack ? found : guardedStack(of: thread, in: found, at: pointer) ?? found
        guard region.isGrowing else {
            return place(at: pointer, in: region, from: region.start, to: region.end)
        }
        let first = first ?? (process.stackLimit, process.stackStart)
        self.first = first
        // The entry function's frame is the last of interest.
        let start = first.start &+ 64
        return place(
            at: pointer, in: region,
            from: min(region.start, region.end - min(first.limit, region.end)),
            to: start > pointer ? min(start, region.end) : region.end)
    }

    private func place(
        at pointer: UInt64, in region: MappingWatch.Region, from low: UInt64, to high: UInt64
    ) -> StackPlace {
        StackPlace(
            range: region.start..<high, isForeign: !region.isStack,
            hasRoom: region.isStack && pointer &- low >= StackPlace.roomForSignal, end: low)
    }

    /// In glibc 2.42 and later, the guard of a thread's stack has no mapping of its own. So a stack
    /// may share a mapping with other stacks and with other memory. The thread's descriptor behind
    /// its stack and the guard below show which part is its stack. nil: the thread is elsewhere.
    private func guardedStack(
        of thread: TracedThread, in region: MappingWatch.Region, at pointer: UInt64
    ) -> MappingWatch.Region? {
        if let known = thread.stack.guarded, known.start < pointer, pointer < known.end {
            return known
        }
        let descriptor = thread.tracee.robustList
        guard region.start < descriptor, descriptor < region.end, pointer < descriptor,
            let start = process.guardEnd(below: pointer, downTo: region.start)
        else { return nil }
        // Between the stack and its descriptor no other one begins.
        guard process.guardEnd(below: descriptor, downTo: region.start) == start else { return nil }
        let stack = MappingWatch.Region(
            start: start, end: min(region.end, VirtualMemory.pageEnd(of: descriptor)),
            isStack: true, isGrowing: false, absent: region.absent)
        thread.stack.sawGuard(stack)
        return stack
    }
}

/// Where a thread's stack lies, as far as it is known.
struct StackPlace {
    /// Its mapping, which may hold other things above it.
    var range: Range<UInt64> = 0..<0
    /// Whether the program itself made it.
    var isForeign = false
    /// Whether a thread library or the kernel made the stack, and a signal's frame fits on it. A
    /// frame takes 3.6 KiB with AVX-512 state and 12 with AMX, and the last look is a while ago.
    var hasRoom = false

    /// Its lowest address, down to where it may grow.
    var end: UInt64 = 0

    static let roomForSignal: UInt64 = 24 << 10

    /// The part of the stack in which a thread has no room left for a signal. Between two looks the
    /// thread may go there and back, but the memory that it has used once can be recognised.
    var lastRoom: Range<UInt64> { end..<(end &+ Self.roomForSignal) }
}
