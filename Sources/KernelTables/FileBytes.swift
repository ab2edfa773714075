import Glibc

/// Reading the kernel's files, which do not tell their size.
enum FileBytes {
    private static let step = 256 << 10

    /// nil: the file cannot be read, or has more bytes than `limit`.
    static func read(_ path: String, limit: Int) -> [UInt8]? {
        guard let bytes = readBeginning(path, count: limit + 1), bytes.count <= limit else {
            return nil
        }
        return bytes
    }

    /// At most `count` bytes; nil: the file cannot be read.
    static func readBeginning(_ path: String, count: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard let piece = piece(of: descriptor, size: min(step, count - bytes.count)) else {
                return nil
            }
            if piece.isEmpty { break }
            bytes += piece
        }
        return bytes
    }

    /// Empty: the file ends here. nil: it cannot be read.
    private static func piece(of descriptor: Int32, size: Int) -> [UInt8]? {
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            // Each call gets the whole buffer.
            var count = Glibc.read(descriptor, buffer.baseAddress, size)
            while count < 0, errno == EINTR {
                count = Glibc.read(descriptor, buffer.baseAddress, size)
            }
            failed = count < 0
            filled = max(0, count)
        }
        return failed ? nil : bytes
    }
}
