/// Reads whole pages and keeps the last few: frames that call each other mostly lie side by side, and
/// each read is a system call.
struct PageWindow<Memory: RuntimeMemory> {
    private let memory: Memory
    /// The newest read comes last.
    private var kept: [Stretch] = []

    private struct Stretch {
        var start: UInt64
        var bytes: [UInt8]

        func piece(at address: UInt64, count: Int) -> [UInt8]? {
            guard address >= start, count > 0, count <= bytes.count,
                address - start <= UInt64(bytes.count - count)
            else { return nil }
            let offset = Int(address - start)
            return Array(bytes[offset..<(offset + count)])
        }
    }

    init(_ memory: Memory) { self.memory = memory }

    /// Reads a stretch, unless it is too long to be worth it.
    mutating func keep(from start: UInt64, to end: UInt64) {
        guard start < end, end - start <= UInt64(Self.longest),
            let bytes = memory.bytes(at: start, count: Int(end - start))
        else { return }
        // The first one is the arena, mostly.
        if kept.count == Self.most { kept.remove(at: 1) }
        kept.append(Stretch(start: start, bytes: bytes))
    }

    /// `count` bytes from `address`; nil: not all of them can be read.
    mutating func bytes(at address: UInt64, count: Int) -> [UInt8]? {
        if let found = piece(at: address, count: count) { return found }
        guard count > 0, count <= Self.longest, address < Self.highest else { return nil }
        // Where the piece is, the rest of its pages is, too.
        let end = address + UInt64(count) + Self.page - 1
        keep(from: address & ~(Self.page - 1), to: end & ~(Self.page - 1))
        return piece(at: address, count: count) ?? memory.bytes(at: address, count: count)
    }

    private func piece(at address: UInt64, count: Int) -> [UInt8]? {
        for stretch in kept.reversed() {
            if let found = stretch.piece(at: address, count: count) { return found }
        }
        return nil
    }

    private static var page: UInt64 { 4096 }
    /// Above this, programs have no memory.
    private static var highest: UInt64 { 1 << 63 }
    /// In bytes.
    private static var longest: Int { 64 << 10 }
    private static var most: Int { 6 }
}
