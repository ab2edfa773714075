import Architecture
import ELF
import ProfileModel

/// Where a process has its files' code, to recognise that code in memory that has replaced it: some
/// programs copy it onto large pages, and put the copy where the file was mapped.
struct MovedCode {
    private struct Home {
        /// The pages of an executable segment, in the process.
        var place: Range<UInt64>
        /// The bytes of these pages that the file has.
        var bytes: Range<UInt64>
        var bias: UInt64
        /// The file's mapping if all of the segment were mapped.
        var mapping: CodeMapping
        var file: ELFFile
    }

    private struct Key: Hashable {
        var path: String
        var inode: UInt64
        var bias: UInt64
    }

    private var homes: [Home] = []
    private var known: Set<Key> = []

    /// The most pieces of code that are compared. Shorter code is compared as a whole.
    private static let mostPieces: UInt64 = 256
    private static let pieceSize: UInt64 = 64
    /// The least share of pieces that must be alike. (Calls are patched, by us and by others.)
    private static let leastAlike = (of: 8, alike: 7)

    /// - Parameter file: the file of a mapping; nil: it cannot be read.
    mutating func add(_ mapping: CodeMapping, _ file: ELFFile?) {
        guard let file,
            let bias = file.bias(mappedAt: mapping.start, fileOffset: mapping.fileOffset),
            known.insert(Key(path: mapping.path, inode: mapping.inode, bias: bias)).inserted
        else { return }
        for segment in file.segments where segment.isLoaded && segment.isExecutable {
            let start = segment.address &+ bias
            let (end, overflows) = start.addingReportingOverflow(segment.fileSize)
            guard !overflows, start < end, end < .max - VirtualMemory.pageSize else { continue }
            var mapping = mapping
            mapping.start = VirtualMemory.pageStart(of: start)
            mapping.end = VirtualMemory.pageEnd(of: end)
            mapping.fileOffset = VirtualMemory.pageStart(of: segment.offset)
            homes.append(
                Home(
                    place: mapping.start..<mapping.end, bytes: start..<end, bias: bias,
                    mapping: mapping, file: file))
        }
    }

    /// The memory's mapping, divided into files' code that was moved there, and the rest.
    ///
    /// - Parameter memory: bytes of the process's memory; nil: they cannot be read.
    func parts(of mapping: CodeMapping, _ memory: (UInt64, Int) -> [UInt8]?) -> [CodeMapping] {
        guard mapping.start < mapping.end else { return [mapping] }
        let range = mapping.start..<mapping.end
        for home in homes {
            let part = home.place.clamped(to: range)
            guard !part.isEmpty, Self.hold(part, the: home, memory) else { continue }
            var (before, moved, after) = (mapping, home.mapping, mapping)
            (before.end, after.start) = (part.lowerBound, part.upperBound)
            moved.fileOffset &+= part.lowerBound - moved.start
            (moved.start, moved.end) = (part.lowerBound, part.upperBound)
            return (before.start < before.end ? parts(of: before, memory) : []) + [moved]
                + (after.start < after.end ? parts(of: after, memory) : [])
        }
        return [mapping]
    }

    /// True if a part of the process's memory has the file's bytes, judging by some of them.
    private static func hold(
        _ part: Range<UInt64>, the home: Home, _ memory: (UInt64, Int) -> [UInt8]?
    ) -> Bool {
        let bytes = home.bytes.clamped(to: part)
        let pieces = UInt64(bytes.count) / pieceSize
        guard pieces > 0 else { return false }
        let step = max(1, pieces / mostPieces) * pieceSize
        var (telling, alike) = (0, 0)
        for start in stride(
            from: bytes.lowerBound, to: bytes.upperBound - pieceSize + 1, by: Int(step))
        {
            guard let expected = home.file.bytes(at: start &- home.bias, count: Int(pieceSize)),
                let found = memory(start, Int(pieceSize))
            else { return false }
            // Padding between functions proves nothing.
            guard expected.contains(where: { $0 != expected[0] }) else { continue }
            telling += 1
            if found == expected { alike += 1 }
        }
        return telling > 0 && alike * leastAlike.of >= telling * leastAlike.alike
    }
}
