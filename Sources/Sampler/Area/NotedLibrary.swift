import CAgent
import ELF
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
        guard path.hasPrefix("/"), let file = ELFHeader(start),
            file.segments <= UInt64(start.count)
        else { return [] }
        let table = start[Int(file.segments)...]
        let headers = ELFSegment.all(
            in: table.prefix(file.segmentCount * ELFSegment.headerSize))
        // Else that is not what was kept. A program that is not moved has addresses of its own.
        guard let base = headers.first(where: { $0.isLoaded && $0.offset == 0 })?.address,
            base & 4095 == 0,
            let buildID = headers.lazy.filter(\.isNotes)
                .map({ self.buildID(in: $0, from: base) }).first(where: { !$0.isEmpty })
        else { return [] }
        return headers.filter { $0.isLoaded && $0.isExecutable }.compactMap { header in
            let first = header.address & ~4095
            let end = (header.address &+ header.fileSize &+ 4095) & ~4095
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

    /// Of a segment of notes, as far as that was kept.
    private func buildID(in notes: ELFSegment, from base: UInt64) -> [UInt8] {
        guard notes.address &- base == notes.offset, notes.offset <= UInt64(start.count) else {
            return []
        }
        return ELFNotes.buildID(
            in: start[Int(notes.offset)...].prefix(Int(clamping: notes.fileSize)))
    }
}
