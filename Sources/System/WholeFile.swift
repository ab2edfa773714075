import Glibc

/// Reading a file as a whole, in bounds.
package enum WholeFile {
    /// For a file that may turn out to be a pipe or a terminal: nothing is waited for.
    package static let unwaiting = O_RDONLY | O_NONBLOCK | O_NOCTTY

    /// All bytes of a file, which need not tell its size. EFBIG: there are more than `limit`.
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

    /// All bytes of a regular file. EFBIG: there are more than `limit`; EMEDIUMTYPE: it is no regular
    /// file; EPERM: it is another user's.
    ///
    /// - Parameter owner: whose it must be, and no link leads to it; nil: anybody's.
    package static func bytes(
        ofRegular path: String, limit: Int, owner: UInt32? = nil
    ) throws(Errno) -> [UInt8] {
        // A link is what others could have put there.
        let file = try Descriptor(regular: path, owner == nil ? 0 : O_NOFOLLOW)
        let status = try file.status()
        guard owner.map({ $0 == status.st_uid }) ?? true else { throw Errno(EPERM) }
        guard let size = Int(exactly: status.st_size), size <= limit else { throw Errno(EFBIG) }
        // No more than that: it may be written to meanwhile.
        return try file.bytes(count: size, expected: size)
    }
}
