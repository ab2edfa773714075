internal import Glibc

/// A file's mapped bytes, valid as long as this lives.
///
/// Files of the cache are replaced, never changed: verified bytes stay as they were.
final class MappedFile: @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer

    /// Maps a whole open file; nil if that is not possible.
    init?(_ file: CInt, size: Int) {
        // The whole file will be verified.
        let flags = MAP_PRIVATE | MAP_POPULATE
        guard size > 0, let start = mmap(nil, size, PROT_READ, flags, file, 0),
            start != MAP_FAILED
        else { return nil }
        bytes = UnsafeRawBufferPointer(start: start, count: size)
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }
}
