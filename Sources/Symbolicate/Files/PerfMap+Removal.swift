internal import CSystem
internal import Glibc

extension PerfMap {
    /// Removes a map that a process has written because we asked for it.
    ///
    /// - Parameters:
    ///   - owner: the user id of the process; another's file stays.
    ///   - earliest: seconds since 1970: one that was written before stays, for it is another
    ///     process's that had the same id.
    /// - Returns: false: it was not removed.
    @discardableResult
    package static func remove(_ path: String, owner: UInt32, writtenSince earliest: Int) -> Bool {
        let descriptor = fl_open_regular(path, O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_uid == owner,
            status.st_mtim.tv_sec >= earliest
        else { return false }
        return unlink(path) == 0
    }
}
