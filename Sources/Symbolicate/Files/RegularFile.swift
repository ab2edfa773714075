internal import CSystem
internal import Glibc

/// Reading small files whole, in bounds.
enum RegularFile {
    /// The file's bytes; nil when it is no regular file, is not `owner`'s, has more than `limit`
    /// bytes, or cannot be read.
    /// - Parameter owner: whose it must be; nil: anybody's.
    static func read(_ path: String, limit: Int, owner: UInt32? = nil) -> [UInt8]? {
        // What others could have put there is not followed.
        let descriptor = fl_open_regular(path, owner == nil ? 0 : O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0,
            owner.map({ $0 == status.st_uid }) ?? true,
            let size = Int(exactly: status.st_size), size <= limit
        else { return nil }
        return contents(of: descriptor, size: size)
    }

    /// At most `size` bytes: it may be written to meanwhile.
    private static func contents(of descriptor: CInt, size: Int) -> [UInt8]? {
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            // Each call gets what is left of the buffer, which `filled` never passes.
            while filled < size {
                let start = buffer.baseAddress.map { $0 + filled }
                let count = Glibc.read(descriptor, start, size - filled)
                if count < 0, errno == EINTR { continue }
                failed = count < 0
                guard count > 0 else { break }
                filled += count
            }
        }
        return failed ? nil : bytes
    }
}
