import Agent
import Architecture
import ProcessIO
import ProfileModel

/// Tells where stacks lie, how much of them there is, and whether there is room for more on them.
struct StackRoom: SessionPart {
    let context: SessionContext

    /// Whether a signal's frame may go to the stack that a thread was seen on last.
    func hasRoomForSignal(_ thread: TracedThread) -> Bool {
        noteStack(of: thread)
        let place = observer.stackPlace(of: thread)
        noteRoom(of: thread, place)
        return place.hasRoom && !thread.stack.lacksRoom && stage.image?.hasOtherStacks != true
    }

    /// Asks now and then whether a thread was ever near its stack's end.
    private func noteRoom(of thread: TracedThread, _ place: StackPlace) {
        guard place.hasRoom, !thread.stack.lacksRoom, thread.stack.countRequest() else { return }
        if process.hasUsed(place.lastRoom) { thread.stack.sawEnd() }
    }

    /// Looks where a stopped thread stands.
    ///
    /// - Returns: whether it may be made to go on elsewhere. From our own code it would never
    /// come back, and its stack needs room for what it must find again.
    func examine(_ thread: TracedThread, at position: UInt64) -> Bool {
        guard let pointer = try? thread.tracee.registers().stackPointer else { return false }
        thread.stack.saw(pointer)
        return context.area?.range.contains(position) != true
            && observer.stackPlace(of: thread).hasRoom
            && !thread.tracee.isInSequence
    }

    /// Pages of a stack that were never touched, or are swapped out, end the kernel's copy. A read from
    /// outside brings them in; those that were never touched as zeroes, of which the program sees nothing.
    ///
    /// - Returns: whether the thread's later copies should hold more than this one.
    func fetchMissing(of seen: ThreadSamples.Observation, _ thread: TracedThread) -> Bool {
        guard let samples = thread.samples, !seen.missing.isEmpty else { return false }
        guard let region = region(around: seen.stack.start) else { return false }
        let missing = seen.missing.clamped(to: region.start..<region.end)
        // Most copies end where the stack does. What the program brings is its own affair, and might never
        // come.
        guard !missing.isEmpty, !process.servesPages else { return false }
        guard !thread.tracee.memory(at: missing.lowerBound, count: missing.count).isEmpty
        else { return false }
        return samples.noteFetch(for: seen, at: process.now)
    }

    /// A program that was seen on a stack of its own making may be on it again when a signal comes.
    func noteStack(of thread: TracedThread) {
        guard let image = stage.image, !image.hasOtherStacks,
            observer.stackPlace(of: thread).isForeign
        else { return }
        // Where a thread's stack is now, other memory may have been when the mappings were read.
        observer.rereadMappings(at: process.now)
        let place = observer.stackPlace(of: thread)
        image.hasOtherStacks = place.isForeign || place.range.isEmpty
    }

    /// Whether a copy ends before its stack does.
    func isShort(_ copy: StackCopy) -> Bool {
        guard let region = region(around: copy.start) else { return true }
        return region.isStack && copy.start &+ UInt64(copy.bytes.count) < region.end
    }

    /// The mapping that a stack pointer points into; nil: it is not known.
    private func region(around pointer: UInt64) -> MappingWatch.Region? {
        // It may have grown since they were read.
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

    /// Marks a stack that is deeper than events can copy.
    func noteDepth(of thread: TracedThread) {
        guard let wanted = wantedStackBytes(of: thread) else { return }
        if wanted > ThreadSamples.mostStackBytes { thread.stack.sawDepth() }
    }

    /// How much would hold a thread's stack; nil: it is not known.
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
