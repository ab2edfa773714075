import Architecture
package import ProfileModel

/// Copies the interpreter's frames of a stopped thread from outside its process: the same frames
/// that a signal handler would copy inside.
package struct FrameListReader: Sendable {
    package let layout: FrameListLayout

    package init(_ layout: FrameListLayout) { self.layout = layout }

    /// In frames: most stacks have fewer.
    package static let usualLimit = 256
    /// In frames: more than CPython allows by default.
    package static let deepLimit = 10_000

    /// The newest frames of a thread; nil: its state cannot be read, or the thread has run in the
    /// meantime.
    ///
    /// - Parameters:
    ///   - thread: the address of its state.
    ///   - limit: in frames. If a copy is shorter, the next frame could not be read.
    package func read(
        thread: UInt64, _ memory: any RuntimeMemory, limit: Int = usualLimit
    ) -> RuntimeCopy? {
        guard let copy = readRunning(thread: thread, memory, limit: limit),
            isStill(copy, memory)
        else { return nil }
        return copy
    }

    /// As ``read(thread:_:limit:)``, for a thread that may run in the meantime: its newest frames
    /// may be from several moments.
    package func readRunning(
        thread: UInt64, _ memory: any RuntimeMemory, limit: Int = usualLimit
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

    /// Extends a copy by the rest of the frames, even if the thread runs. Frames that called the
    /// last copied one do not change as long as that frame exists. Returns the copy unchanged if
    /// that frame is gone.
    package func continuing(
        _ copy: RuntimeCopy, _ memory: any RuntimeMemory, limit: Int = deepLimit
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

    /// The address of the newest frame; 0: there is none.
    private func first(_ pointer: UInt64, _ memory: any RuntimeMemory) -> UInt64? {
        guard let inside = layout.newestInside, pointer != 0 else { return pointer }
        return memory.word(at: pointer.advanced(by: inside))
    }

    /// True if the thread is still where it was at the start of the copy.
    private func isStill(_ copy: RuntimeCopy, _ memory: any RuntimeMemory) -> Bool {
        guard
            memory.word(at: copy.thread.advanced(by: layout.newest)) == copy.newest,
            first(copy.newest, memory) == copy.addresses.first ?? copy.rest
        else { return false }
        guard let newest = copy.record(0, layout) else { return true }
        return record(at: newest.address, memory) == newest.bytes
    }

    /// - Returns: false: the list leads back to itself.
    private func appendFrames(
        to copy: inout RuntimeCopy, limit: Int, _ window: inout PageWindow
    ) -> Bool {
        let caller = layout.place(of: layout.caller, size: 8)
        var ring = RingDetector(copy.addresses)
        while copy.rest != 0, copy.addresses.count < limit {
            let (address, start) = (copy.rest, copy.records.count)
            guard address.mayBeObject, append(recordAt: address, to: &copy.records, &window),
                let next = caller.flatMap({ copy.records.word(at: start + $0) })
            else { return true }
            guard !ring.closes(with: address) else { return false }
            copy.addresses.append(address)
            copy.rest = next
        }
        return true
    }

    /// Adds the identities that are missing. Unreadable ones are zeros, which no code has.
    private func appendIdentities(to copy: inout RuntimeCopy, _ memory: any RuntimeMemory) {
        let (size, offset) = (layout.identity.size, layout.identity.offset)
        let first = min(copy.addresses.count, copy.identities.count / size)
        var (codes, places) = ([UInt64](), [UInt64: Int]())
        let indices = (first..<copy.addresses.count).map { index in
            let code = copy.record(index, layout)?.code ?? 0
            if codes.last == code { return codes.count - 1 }
            let place = places[code] ?? codes.count
            if place == codes.count {
                places[code] = place
                codes.append(code)
            }
            return place
        }
        let bytes = memory.bytes(at: codes.map { $0.advanced(by: offset) }, count: size)
        guard bytes.count == codes.count * size else { return }
        for index in indices { copy.identities += bytes[index * size..<(index + 1) * size] }
    }

    /// - Returns: true if the record can be read; otherwise nothing is appended.
    private func append(
        recordAt address: UInt64, to records: inout [UInt8], _ window: inout PageWindow
    ) -> Bool {
        let start = records.count
        for part in layout.record {
            guard
                window.append(
                    at: address.advanced(by: part.offset), count: part.size, to: &records)
            else {
                records.removeLast(records.count - start)
                return false
            }
        }
        return true
    }

    private func record(at address: UInt64, _ memory: any RuntimeMemory) -> ArraySlice<UInt8>? {
        var (record, window) = ([UInt8](), PageWindow(memory))
        return append(recordAt: address, to: &record, &window) ? record[...] : nil
    }
}

/// Detects that a list of addresses leads back to itself, after at most twice the ring's length.
private struct RingDetector {
    private var mark: UInt64 = 0
    private var steps = 0
    private var most = 1

    init(_ addresses: [UInt64]) { for address in addresses { _ = closes(with: address) } }

    mutating func closes(with address: UInt64) -> Bool {
        if address == mark { return true }
        steps += 1
        if steps == most { (mark, steps, most) = (address, 0, 2 * most) }
        return false
    }
}

/// Reads whole pages and keeps the last few: frames that call each other are mostly side by side,
/// and each read costs a system call.
struct PageWindow {
    private let memory: any RuntimeMemory
    /// The newest read is last.
    private var kept: [Stretch] = []

    private struct Stretch {
        var start: UInt64
        var bytes: [UInt8]

        /// Where the bytes are in ``bytes``; nil: not all of them are there.
        func range(of address: UInt64, count: Int) -> Range<Int>? {
            guard address >= start, count > 0, count <= bytes.count,
                address - start <= UInt64(bytes.count - count)
            else { return nil }
            let offset = Int(address - start)
            return offset..<(offset + count)
        }
    }

    init(_ memory: any RuntimeMemory) { self.memory = memory }

    /// Reads a range, unless it is too long.
    mutating func keep(from start: UInt64, to end: UInt64) {
        guard start < end, end - start <= UInt64(Self.longest),
            let bytes = memory.bytes(at: start, count: Int(end - start))
        else { return }
        // The first one is mostly the arena.
        if kept.count == Self.most { kept.remove(at: 1) }
        kept.append(Stretch(start: start, bytes: bytes))
    }

    /// Appends `count` bytes from `address`.
    ///
    /// - Returns: false: not all bytes can be read.
    mutating func append(at address: UInt64, count: Int, to bytes: inout [UInt8]) -> Bool {
        if appendKept(address, count, to: &bytes) { return true }
        guard count > 0, count <= Self.longest, address < VirtualMemory.kernelStart else {
            return false
        }
        // If the piece is mapped, so is the rest of its pages.
        keep(
            from: VirtualMemory.pageStart(of: address),
            to: VirtualMemory.pageEnd(of: address + UInt64(count)))
        if appendKept(address, count, to: &bytes) { return true }
        guard let read = memory.bytes(at: address, count: count) else { return false }
        bytes += read
        return true
    }

    private func appendKept(_ address: UInt64, _ count: Int, to bytes: inout [UInt8]) -> Bool {
        for index in kept.indices.reversed() {
            if let range = kept[index].range(of: address, count: count) {
                bytes += kept[index].bytes[range]
                return true
            }
        }
        return false
    }

    /// In bytes.
    private static var longest: Int { 64 << 10 }
    private static var most: Int { 6 }
}
