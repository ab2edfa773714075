package import ProfileModel

/// Copies the frames of a thread that stands still, out of its process's memory: what a signal handler
/// would copy inside of it.
package struct FrameListReader: Sendable {
    package let layout: FrameListLayout

    package init(_ layout: FrameListLayout) { self.layout = layout }

    /// What most stacks stay below, in frames.
    package static let usualLimit = 256
    /// More than CPython allows unless told otherwise, in frames.
    package static let deepLimit = 10_000

    /// The newest frames of a thread; nil: its state cannot be read, or the thread ran meanwhile.
    ///
    /// - Parameters:
    ///   - thread: where its state lies.
    ///   - limit: in frames. Where a copy ends earlier, the next frame cannot be read.
    package func read(
        thread: UInt64, _ memory: some RuntimeMemory, limit: Int = usualLimit
    ) -> RuntimeCopy? {
        guard let copy = readRunning(thread: thread, memory, limit: limit),
            isStill(copy, memory)
        else { return nil }
        return copy
    }

    /// The same of a thread that may run meanwhile: its newest frames may be of several moments.
    package func readRunning(
        thread: UInt64, _ memory: some RuntimeMemory, limit: Int = usualLimit
    ) -> RuntimeCopy? {
        guard thread.mayBeObject, let state = memory.bytes(at: thread, count: layout.stateSize),
            let pointer = state.word(at: layout.newest),
            let first = first(pointer, memory)
        else { return nil }
        var copy = RuntimeCopy(
            thread: thread, threadID: layout.threadID.flatMap { state.word(at: $0) },
            newest: pointer, rest: first)
        var window = PageWindow(memory)
        if let arena = layout.arena, let start = state.word(at: arena.start),
            let top = state.word(at: arena.top)
        {
            window.keep(from: start, to: top)
        }
        guard appendFrames(to: &copy, limit: limit, &window) else { return nil }
        appendIdentities(to: &copy, memory)
        return copy
    }

    /// The copy with the rest of the frames, of a thread that may be running: frames that called the
    /// last copied one stay as they are as long as that one does. As it was, if that is gone.
    package func continuing(
        _ copy: RuntimeCopy, _ memory: some RuntimeMemory, limit: Int = deepLimit
    ) -> RuntimeCopy {
        let complete = copy.completeCount(layout)
        guard !copy.addresses.isEmpty, copy.rest != 0 || complete < copy.addresses.count,
            copy.records.count == copy.addresses.count * layout.recordSize,
            let oldest = copy.record(min(complete, copy.addresses.count - 1), layout)
        else { return copy }
        var (longer, window) = (copy, PageWindow(memory))
        guard appendFrames(to: &longer, limit: limit, &window) else { return copy }
        appendIdentities(to: &longer, memory)
        guard longer.completeCount(layout) > complete,
            record(at: oldest.address, memory) == oldest.bytes
        else { return copy }
        return longer
    }

    /// Where the newest frame is; 0: there is none.
    private func first(_ pointer: UInt64, _ memory: some RuntimeMemory) -> UInt64? {
        guard let inside = layout.newestInside, pointer != 0 else { return pointer }
        return memory.word(at: pointer.advanced(by: inside))
    }

    /// Whether the thread is where it was when the copy was begun.
    private func isStill(_ copy: RuntimeCopy, _ memory: some RuntimeMemory) -> Bool {
        guard
            memory.word(at: copy.thread.advanced(by: layout.newest)) == copy.newest,
            first(copy.newest, memory) == copy.addresses.first ?? copy.rest
        else { return false }
        guard let newest = copy.record(0, layout) else { return true }
        return record(at: newest.address, memory) == newest.bytes
    }

    /// - Returns: false: the list bites its own tail.
    private func appendFrames<Memory>(
        to copy: inout RuntimeCopy, limit: Int, _ window: inout PageWindow<Memory>
    ) -> Bool {
        var seen = Set(copy.addresses)
        while copy.rest != 0, copy.addresses.count < limit {
            let address = copy.rest
            guard address.mayBeObject, let bytes = record(at: address, &window),
                let caller = layout.place(of: layout.caller, size: 8).flatMap(bytes.word(at:))
            else { return true }
            guard seen.insert(address).inserted else { return false }
            copy.addresses.append(address)
            copy.records += bytes
            copy.rest = caller
        }
        return true
    }

    /// Of the frames that have none yet. What cannot be read is zeros, which no code has.
    private func appendIdentities(to copy: inout RuntimeCopy, _ memory: some RuntimeMemory) {
        let size = layout.identity.size
        var known: [UInt64: [UInt8]] = [:]
        for index in min(copy.addresses.count, copy.identities.count / size)..<copy.addresses.count
        {
            guard let code = copy.record(index, layout)?.code else { return }
            let bytes =
                known[code]
                ?? memory.bytes(at: code.advanced(by: layout.identity.offset), count: size)
                ?? [UInt8](repeating: 0, count: size)
            known[code] = bytes
            copy.identities += bytes
        }
    }

    private func record<Memory>(
        at address: UInt64, _ window: inout PageWindow<Memory>
    ) -> [UInt8]? {
        var record: [UInt8] = []
        for part in layout.record {
            guard
                let bytes = window.bytes(at: address.advanced(by: part.offset), count: part.size)
            else { return nil }
            record += bytes
        }
        return record
    }

    private func record(at address: UInt64, _ memory: some RuntimeMemory) -> [UInt8]? {
        var window = PageWindow(memory)
        return record(at: address, &window)
    }
}
