import Glibc
import Runtimes
import System

/// A process's perf map, read as it grows.
struct PerfMapTail: ~Copyable {
    /// nil: not open.
    private var file: Descriptor?
    private var offset = 0

    /// We read no more than this: a map may grow without end.
    private static let largest = 256 << 20
    private static let chunk = 1 << 20

    var isOpen: Bool { file != nil }

    /// - Parameter earliest: seconds since 1970; a map written before belongs to another process.
    mutating func open(_ place: PerfMapPlace, writtenSince earliest: Int) {
        guard !isOpen, let found = try? Descriptor(regular: place.path, O_NOFOLLOW),
            DescriptorReserve.leaves(found.number),
            let status = try? found.status(), place.owners.contains(status.st_uid),
            status.st_mtim.tv_sec >= earliest
        else { return }
        file = consume found
    }

    /// Whether the process has begun the file anew.
    mutating func hasRestarted() -> Bool {
        guard let status = try? file?.status(), status.st_size < offset else { return false }
        offset = 0
        return true
    }

    /// Some new lines, and the text that contains them; nil: there are none.
    mutating func next() -> (text: [UInt8], lines: [PerfMapLine])? {
        guard isOpen, offset < Self.largest else { return nil }
        let text = nextChunk()
        let newline = UInt8(ascii: "\n")
        guard let end = text.lastIndex(of: newline) else { return nil }
        offset += end + 1
        return (text, text[..<end].split(separator: newline).compactMap(PerfMapLine.init))
    }

    private func nextChunk() -> [UInt8] {
        file?.known(at: UInt64(offset), count: Self.chunk) ?? []
    }
}
