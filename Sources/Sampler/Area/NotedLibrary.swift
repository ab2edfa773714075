import CAgent
import ProfileModel

/// The beginning of a library's file, or the program's, as it was mapped, and where.
struct NotedLibrary {
    var path: String
    /// Where the file's first byte is.
    var address: UInt64
    var start: [UInt8]

    /// How much of it there is.
    static let length = Int(FL_FILE_START)

    /// Where its code is; nothing unless the build id says which file it is: the path may name
    /// another one by now.
    var code: [CodeMapping] {
        guard path.hasPrefix("/"), start.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]),
            let offset = start.littleEndianWord(at: 32), offset <= UInt64(start.count),
            let count = start.littleEndianUInt16(at: 56)
        else { return [] }
        let headers = (0..<Int(count)).compactMap { header(at: Int(offset) + $0 * 56) }
        // Else that is not what was kept. A program that is not moved has addresses of its own.
        guard let base = headers.first(where: { $0.isLoaded && $0.offset == 0 })?.address,
            base & 4095 == 0,
            let buildID = headers.lazy.filter({ $0.kind == 4 })
                .compactMap({ self.buildID(in: $0, from: base) }).first
        else { return [] }
        return headers.filter { $0.isLoaded && $0.isExecutable }.compactMap { header in
            let first = header.address & ~4095
            let end = (header.address &+ header.size &+ 4095) & ~4095
            // Whatever stands there: the program can write it.
            guard first >= base, end > first, address <= .max - (end - base),
                header.offset >= header.address - first
            else { return nil }
            return CodeMapping(
                start: address + (first - base), end: address + (end - base),
                fileOffset: header.offset - (header.address - first), path: path, inode: 0,
                buildID: buildID)
        }
    }

    private struct Header {
        var kind: UInt32
        var flags: UInt32
        var offset: UInt64
        var address: UInt64
        /// In the file.
        var size: UInt64

        var isLoaded: Bool { kind == 1 }
        var isExecutable: Bool { flags & 1 != 0 }
    }

    private func header(at place: Int) -> Header? {
        guard let kind = start.littleEndianUInt32(at: place),
            let flags = start.littleEndianUInt32(at: place + 4),
            let offset = start.littleEndianWord(at: place + 8),
            let address = start.littleEndianWord(at: place + 16),
            let size = start.littleEndianWord(at: place + 32)
        else { return nil }
        return Header(kind: kind, flags: flags, offset: offset, address: address, size: size)
    }

    /// Of a segment of notes, as far as that was kept.
    private func buildID(in notes: Header, from base: UInt64) -> [UInt8]? {
        let size = UInt64(start.count)
        guard notes.address &- base == notes.offset, notes.offset <= size, notes.size <= size
        else { return nil }
        var place = Int(notes.offset)
        let end = min(place + Int(notes.size), start.count)
        while place + 16 <= end, let nameSize = start.littleEndianUInt32(at: place),
            let size = start.littleEndianUInt32(at: place + 4),
            let kind = start.littleEndianUInt32(at: place + 8)
        {
            let content = place + 12 + Self.padded(nameSize)
            let next = content + Self.padded(size)
            guard next <= end else { return nil }
            if kind == 3, nameSize == 4, start[(place + 12)...].starts(with: [0x47, 0x4E, 0x55, 0])
            {
                return Array(start[content..<(content + Int(size))])
            }
            place = next
        }
        return nil
    }

    private static func padded(_ size: UInt32) -> Int { (Int(size) + 3) & ~3 }
}
