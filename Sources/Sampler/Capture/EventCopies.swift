import ProcessIO
import ProfileModel

/// How much of a thread's stack its events copy, and what a copy lacks.
struct EventCopies: SessionPart {
    let context: SessionContext

    /// Pages of a stack that were never touched, or are swapped out, end the kernel's copy. A read
    /// from outside brings them in: pages that were never touched as zeroes, which the program does
    /// not notice.
    ///
    /// - Returns: whether the thread's later copies should hold more than this one.
    func fetchMissing(of seen: ThreadSamples.Observation, _ thread: TracedThread) -> Bool {
        guard let samples = thread.samples, !seen.missing.isEmpty else { return false }
        guard let region = region(around: seen.stack.start) else { return false }
        let missing = seen.missing.clamped(to: region.start..<region.end)
        // Most copies end where the stack does. Pages that the program itself supplies might never
        // come.
        guard !missing.isEmpty, !process.servesPages else { return false }
        guard !thread.tracee.memory(at: missing.lowerBound, count: missing.count).isEmpty
        else { return false }
        return samples.noteFetch(for: seen, at: process.now)
    }

    /// Whether a copy ends before its stack does.
    func isShort(_ copy: StackCopy) -> Bool {
        guard let region = region(around: copy.start) else { return true }
        return region.isStack && copy.start &+ UInt64(copy.bytes.count) < region.end
    }

    /// The mapping that a stack pointer points into; nil: it is not known.
    private func region(around pointer: UInt64) -> MappingWatch.Region? {
        // The mapping may have grown since the list was read.
        let now = process.now
        if observer.mappings.isUnknown(pointer, at: now) { observer.rereadMappings(at: now) }
        return observer.mappings.region(around: pointer)
    }

    /// How much of a thread's stack each sample should hold.
    func eventStackBytes(of thread: TracedThread) -> Int {
        // The first thread's stack is the one that grows; of the others there may be hundreds.
        let usual = thread.tid == pid ? ThreadSamples.mostStackBytes : Self.usualEventStack
        guard let wanted = wantedStackBytes(of: thread) else { return usual }
        return min(max(usual, wanted), ThreadSamples.mostStackBytes)
    }

    /// How many bytes would hold a thread's stack; nil: it is not known.
    private func wantedStackBytes(of thread: TracedThread) -> Int? {
        guard let pointer = thread.stack.pointer else { return nil }
        let place = observer.stackPlace(of: thread)
        // Where many stacks share one mapping, each is short.
        guard !place.isForeign, place.range.contains(pointer) else { return nil }
        return Int(clamping: place.range.upperBound - pointer) + Self.eventStackGrowth
    }

    private static var usualEventStack: Int { 16 << 10 }

    private static var eventStackGrowth: Int { 8 << 10 }
}
