internal import Glibc
internal import System

extension PerfMap {
    /// Removes a map that a process has written because we asked for it.
    ///
    /// - Parameters:
    ///   - owner: the user id of the process; another user's file stays.
    ///   - earliest: in seconds since 1970. A file written before stays: it belongs to another
    ///     process that had the same id.
    /// - Returns: false: it was not removed.
    @discardableResult
    package static func remove(_ path: String, owner: UInt32, writtenSince earliest: Int) -> Bool {
        guard let status = try? Descriptor(regular: path, O_NOFOLLOW).status(),
            status.st_uid == owner, status.st_mtim.tv_sec >= earliest
        else { return false }
        return unlink(path) == 0
    }
}
