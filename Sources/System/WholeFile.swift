import Glibc

/// Reads a whole file, up to a limit.
package enum WholeFile {
    /// For a file that may be a pipe or a terminal: opening and reading do not wait.
    package static let unwaiting = O_RDONLY | O_NONBLOCK | O_NOCTTY

    /// All bytes of a file, which need not have a known size. EFBIG: there are more than `limit`.
    package static func bytes(
        of path: String, limit: Int, _ flags: Int32 = unwaiting
    ) throws(Errno) -> [UInt8] {
        let bytes = try beginning(of: path, count: limit + 1, flags)
        guard bytes.count <= limit else { throw Errno(EFBIG) }
        return bytes
    }

    /// The first bytes of a file, at most `count`.
    package static func beginning(
        of path: String, count: Int, _ flags: Int32 = unwaiting
    ) throws(Errno) -> [UInt8] {
        try Descriptor(path, flags).bytes(count: count)
    }

    /// All bytes of a regular file. EFBIG: there are more than `limit`; EMEDIUMTYPE: it is not a
    /// regular file; EPERM: it belongs to another user.
    ///
    /// - Parameter owner: the required owner; then links are not followed. nil: any owner.
    package static func bytes(
        ofRegular path: String, limit: Int, owner: UInt32? = nil
    ) throws(Errno) -> [UInt8] {
        // Other users could have put a link there.
        let file = try Descriptor(regular: path, owner == nil ? 0 : O_NOFOLLOW)
        let status = try file.status()
        guard owner.map({ $0 == status.st_uid }) ?? true else { throw Errno(EPERM) }
        guard let size = Int(exactly: status.st_size), size <= limit else { throw Errno(EFBIG) }
        // No more than that, because the file may grow in the meantime.
        return try file.bytes(count: size, expected: size)
    }
}
