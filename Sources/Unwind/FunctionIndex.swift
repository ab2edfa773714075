import ELF
import ProfileModel

/// Finds the `.eh_frame` entry of a function by address, in the sorted table of `.eh_frame_hdr` if
/// it is usable, otherwise in an index of our own.
struct FunctionIndex {
    private enum Source {
        /// Pairs of 4-byte numbers, relative to the section's address.
        case header(TableSection, first: Int, count: Int)
        /// Ascending addresses, and the entries' positions.
        case scanned(starts: [UInt64], positions: [UInt32])
    }

    private let entries: FrameEntries
    private let source: Source

    init(_ entries: FrameEntries, header: TableSection?) {
        self.entries = entries
        source = header.flatMap { Self.read($0, entries.section) } ?? Self.scan(entries)
    }

    /// The position in the section of the last entry that begins at or below an address.
    func position(around address: UInt64) -> Int? {
        switch source {
        case .header(let section, let first, let count):
            return search(address, section, first, count)
        case .scanned(let starts, let positions):
            let next = starts.partitionIndex { $0 > address }
            return next > 0 ? Int(positions[next - 1]) : nil
        }
    }

    private func search(
        _ address: UInt64, _ section: TableSection, _ first: Int, _ count: Int
    ) -> Int? {
        guard let wanted = Int32(exactly: Int64(bitPattern: address &- section.address)) else {
            return nil
        }
        func number(_ index: Int, _ half: Int) -> Int32 {
            var cursor = section.cursor(from: first &+ 8 &* index &+ 4 &* half)
            return cursor.number(Int32.self)
        }
        let next = (0..<count).partitionIndex { number($0, 0) > wanted }
        guard next > 0 else { return nil }
        let entry = section.address &+ UInt64(bitPattern: Int64(number(next &- 1, 1)))
        return entries.section.position(of: entry)
    }

    /// See Linux Standard Base 5.0, 10.6.2. Linkers write only one form.
    private static func read(_ section: TableSection, _ frames: TableSection) -> Source? {
        var cursor = section.cursor(from: 0)
        guard cursor.number(UInt32.self) == 0x3B03_1B01 else { return nil }
        let place = section.address &+ UInt64(cursor.position)
        let distance = UInt64(bitPattern: Int64(cursor.number(Int32.self)))
        let count = Int(cursor.number(UInt32.self))
        guard !cursor.isBroken, place &+ distance == frames.address, count > 0,
            count <= (section.bytes.count &- cursor.position) / 8
        else { return nil }
        return .header(section, first: cursor.position, count: count)
    }

    private static func scan(_ entries: FrameEntries) -> Source {
        var found: [(start: UInt64, position: UInt32)] = []
        var position = 0
        while position &+ 4 <= entries.section.bytes.count {
            guard let header = entries.header(at: position) else {
                // A terminator, which a linker may leave between two object files' entries.
                var cursor = entries.section.cursor(from: position)
                guard cursor.number(UInt32.self) == 0 else { break }
                position &+= 4
                continue
            }
            if case .function = header.kind, let entry = entries.function(at: position),
                let narrow = UInt32(exactly: position)
            {
                found.append((entry.start, narrow))
            }
            position = header.next
        }
        found.sort { $0.start < $1.start }
        return .scanned(starts: found.map(\.start), positions: found.map(\.position))
    }
}
