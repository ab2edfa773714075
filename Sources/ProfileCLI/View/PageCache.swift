import Glibc
import ProfileModel
import Symbolicate

/// Pages of recordings, in the user's cache.
enum PageCache {
    /// - Returns: the page's path.
    static func keep(_ page: [UInt8], of recording: String) throws(Reading.Failure) -> String {
        let name = name(of: recording)
        guard let folder = CacheFolder.ofUser, folder.write(page, as: name) else {
            throw Reading.Failure(
                "the page cannot be kept in the cache; name a file with 'firstlight report "
                    + "--format html -o FILE' and open that")
        }
        return "\(folder.path)/\(name)"
    }

    /// One page for each recording's path: a new page replaces the old one.
    private static func name(of recording: String) -> String {
        let resolved = realpath(recording, nil)
        defer { free(resolved) }
        let path = resolved.map { String(cString: $0) } ?? recording
        let number = String(path.utf8.fingerprint, radix: 16)
        return "view-\(number)\(CacheFolder.Suffix.page.rawValue)"
    }
}
