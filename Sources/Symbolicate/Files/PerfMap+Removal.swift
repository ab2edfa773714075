internal import Glibc
package import Runtimes
internal import System

extension PerfMap {
    /// Removes a map that a process has written because we asked for it.
    ///
    /// - Parameter earliest: in seconds since 1970. A file written before stays: it belongs to
    ///   another process that had the same id.
    /// - Returns: false: it was not removed.
    @discardableResult
    package static func remove(_ place: PerfMapPlace, writtenSince earliest: Int) -> Bool {
        guard let status = try? Descriptor(regular: place.path, O_NOFOLLOW).status(),
            place.owners.contains(status.st_uid), status.st_mtim.tv_sec >= earliest
        else { return false }
        return unlink(place.path) == 0
    }
}
