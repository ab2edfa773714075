import Architecture
import CAgent
import Glibc
import Synchronization

/// The alternate signal stacks on which our handler runs. Where a thread's stack pointer is when a
/// signal comes, nobody knows beforehand: it may be on a coroutine's small stack, or in a block of the
/// heap. With an alternate stack, the kernel writes nothing there.
enum AlternateStacks {
    /// A signal's frame, in bytes: 3.6 KiB with AVX-512 state, 12 KiB with AMX.
    private static let frame: UInt64 = {
        let told = AuxiliaryVector(pid: getpid()).signalFrameSize
        return told > 0 ? told : StackPlace.roomForSignal / 2
    }()
    /// What our handler needs beside it, with much to spare.
    private static let forHandler: UInt64 = 8 << 10

    /// Of those that we make: handlers of the program's that ask for alternate stacks run there, too, as
    /// long as the program has made none.
    static let size: UInt64 = 64 << 10
    /// What one of the program's own must have: one of its handlers may be at work there.
    static var leastOfPrograms: UInt64 { 2 * frame + forHandler }

    /// Of all of them, each behind a page that nobody may access.
    static let roomForAll = Int(FL_MOST_ALTERNATES) * Int(size + VirtualMemory.pageSize)

    /// What is known of a thread.
    enum Kind: Hashable {
        /// It has an alternate stack with room.
        case hasRoom
        /// It has none, or the program's own without room. Or it is just about to change it.
        case lacksRoom
        /// The program's threads have none that we know of.
        case unknown
    }
}

/// Unsafe code: entries lie within the state.
extension Area {
    /// Which alternate stack a thread has.
    ///
    /// - Parameter tid: the thread's id, as the process knows it.
    func alternateStack(of tid: Int32) -> AlternateStacks.Kind {
        guard value(\.uses_alternates) != 0 else { return .unknown }
        guard let entry = alternate(of: tid) else {
            return value(\.alternates_lost) != 0 ? .lacksRoom : .unknown
        }
        let hasRoom = entry.kind == FL_ALTERNATE_OURS || entry.kind == FL_ALTERNATE_LARGE
        return hasRoom ? .hasRoom : .lacksRoom
    }

    /// The alternate stack that we have made for a thread; nil: it has none, or the program's own.
    func madeAlternate(of tid: Int32) -> UInt64? {
        guard let range = alternatesRange, let entry = alternate(of: tid),
            entry.kind == FL_ALTERNATE_OURS
        else { return nil }
        let guardSize = VirtualMemory.pageSize
        let stride = AlternateStacks.size + guardSize
        return range.lowerBound + UInt64(entry.index) * stride + guardSize
    }

    /// Where those are that we have made; nil: none are.
    var alternatesRange: Range<UInt64>? {
        let size = AlternateStacks.roomForAll
        let start = self[\.alternates_at]
        guard Self.isPlace(start, size: size) else { return nil }
        return start..<(start + UInt64(size))
    }

    private func alternate(of tid: Int32) -> (index: Int, kind: Int)? {
        for index in 0..<Int(FL_MOST_ALTERNATES) {
            let place = Self.offset(\.alternates) + index * MemoryLayout<fl_alternate>.stride
            let word = (base + place).assumingMemoryBound(to: Atomic<UInt64>.self).pointee
                .load(ordering: .sequentiallyConsistent)
            if Int32(truncatingIfNeeded: word) == tid { return (index, Int(word >> 32)) }
        }
        return nil
    }
}
