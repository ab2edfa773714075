import ELF

/// A file's code around the last requested address: patterns are looked for at the same few bytes,
/// and each read of the file is a system call.
final class CodeWindow {
    private let file: ELFFile
    private var start: UInt64 = 0
    private var bytes: [UInt8] = []

    private static let before: UInt64 = 32
    private static let size = 128

    init(_ file: ELFFile) { self.file = file }

    /// The bytes at one of the file's own addresses; nil unless all are there.
    func bytes(at address: UInt64, count: Int) -> [UInt8]? {
        if let known = known(at: address, count: count) { return known }
        start = address - min(address, Self.before)
        bytes = file.mapped(at: start, count: Self.size)
        // Another segment may begin in the window, or the file end.
        return known(at: address, count: count) ?? file.bytes(at: address, count: count)
    }

    private func known(at address: UInt64, count: Int) -> [UInt8]? {
        guard address >= start, count >= 0,
            let first = Int(exactly: address - start), first <= bytes.count,
            count <= bytes.count - first
        else { return nil }
        return Array(bytes[first..<first + count])
    }
}
