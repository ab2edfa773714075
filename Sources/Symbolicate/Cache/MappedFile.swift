internal import Glibc

/// A file's bytes where they are mapped, as long as this lives.
///
/// Files of the cache are replaced, never changed: what was verified stays as it was.
final class MappedFile: @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer

    /// All of an open file; nil if it cannot be mapped.
    init?(_ file: CInt, size: Int) {
        // All of it will be verified.
        let flags = MAP_PRIVATE | MAP_POPULATE
        guard size > 0, let start = mmap(nil, size, PROT_READ, flags, file, 0),
            start != MAP_FAILED
        else { return nil }
        bytes = UnsafeRawBufferPointer(start: start, count: size)
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }
}
