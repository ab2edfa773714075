import Architecture
import CAgent
import Glibc
import Synchronization

/// The alternate signal stacks on which our handler runs where signals are the only way to request
/// stacks. The recorder cannot know where a thread's stack pointer is when a signal comes: it may
/// be on a coroutine's small stack, or in a block of the heap. With an alternate stack, the kernel
/// writes nothing there.
package enum AlternateStacks {
    /// The size of each, in bytes. Handlers of the program's that ask for alternate stacks run
    /// there, too, as long as the program has made none. Without us they would run on a thread's
    /// own stack.
    package static let size: UInt64 = 1 << 20
    /// The size of all stacks, each above a guard page. Only pages in use take memory.
    package static let roomForAll = Int(FL_MOST_ALTERNATES) * Int(size + VirtualMemory.pageSize)
}

/// Unsafe code: entries lie within the state.
extension AgentMemory {
    /// Whether a thread has an alternate stack of ours, and so there is room for a signal's frame.
    ///
    /// - Parameter tid: the thread's id, as the process knows it.
    package func hasAlternateStack(_ tid: Int32) -> Bool {
        guard value(\.uses_alternates) == 1 else { return false }
        let wanted = UInt64(FL_ALTERNATE_OURS) << 32 | UInt64(UInt32(bitPattern: tid))
        return (0..<Int(FL_MOST_ALTERNATES)).contains { index in
            let place = Self.offset(\.alternates) + index * MemoryLayout<fl_alternate>.stride
            return (base + place).assumingMemoryBound(to: Atomic<UInt64>.self).pointee
                .load(ordering: .sequentiallyConsistent) == wanted
        }
    }

    /// The stacks that no thread ever had. A stack that a thread had stays the thread's for good: a
    /// handler of the program's that returns restores the stack that it began with.
    package var unusedAlternates: Range<UInt64>? {
        let start = self[\.alternates_at]
        guard Self.isPlace(start, size: AlternateStacks.roomForAll) else { return nil }
        let used = UInt64(UInt64.bitWidth - self[\.alternates_made].leadingZeroBitCount)
        let first = start + used * (AlternateStacks.size + VirtualMemory.pageSize)
        let end = start + UInt64(AlternateStacks.roomForAll)
        return first < end ? first..<end : nil
    }
}
