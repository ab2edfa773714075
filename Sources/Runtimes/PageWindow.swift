import Architecture

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
