import Architecture
import CAgent
import ELF
package import Images
package import ProfileModel

/// The beginning of a library's file, or of the program's, as it was mapped, and its address.
package struct NotedLibrary {
    package var path: String
    /// The address of the file's first byte.
    package var address: UInt64
    package var start: [UInt8]

    /// How many bytes are kept.
    package static let length = Int(FL_FILE_START)

    /// The name of its file.
    package var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// True if the linker's entry is this library's.
    package func isSame(as object: LinkedObject) -> Bool {
        path == object.path && address == object.bias
    }

    /// Its size in the address space, in bytes; 0: not known.
    package var size: Int64 {
        let loaded = segments.filter(\.isLoaded)
        guard let first = loaded.map(\.address).min(),
            let end = loaded.map({ $0.address &+ $0.memorySize }).max(), end > first
        else { return 0 }
        return Int64(clamping: end - first)
    }

    /// The segments, as far as they were kept.
    private var segments: [ELFSegment] {
        guard let file = ELFHeader(start), file.segments <= UInt64(start.count) else { return [] }
        let table = start[Int(file.segments)...]
        return ELFSegment.all(in: table.prefix(file.segmentCount * ELFSegment.headerSize))
    }

    /// The mappings of its code. Empty unless the build id identifies the file: the path may name
    /// another one now.
    package var code: [CodeMapping] {
        guard path.contains("/") else { return [] }
        let headers = segments
        // Without such a segment, the header is not in the kept bytes. A program at a fixed address
        // has its own addresses.
        guard let base = headers.first(where: { $0.isLoaded && $0.offset == 0 })?.address,
            base % VirtualMemory.pageSize == 0,
            let buildID = headers.lazy.filter(\.isNotes)
                .map({ self.buildID(in: $0, from: base) }).first(where: { !$0.isEmpty })
        else { return [] }
        return headers.filter { $0.isLoaded && $0.isExecutable }.compactMap { header in
            let first = VirtualMemory.pageStart(of: header.address)
            let end = VirtualMemory.pageEnd(of: header.address &+ header.fileSize)
            // The content cannot be trusted: the program can write it.
            guard first >= base, end > first, address <= .max - (end - base),
                header.offset >= header.address - first
            else { return nil }
            return CodeMapping(
                start: address + (first - base), end: address + (end - base),
                fileOffset: header.offset - (header.address - first), path: path, inode: 0,
                buildID: buildID)
        }
    }

    /// The build id in a segment of notes, if it was kept.
    private func buildID(in notes: ELFSegment, from base: UInt64) -> [UInt8] {
        guard notes.address &- base == notes.offset, notes.offset <= UInt64(start.count) else {
            return []
        }
        return ELFNotes.buildID(
            in: start[Int(notes.offset)...].prefix(Int(clamping: notes.fileSize)))
    }
}
