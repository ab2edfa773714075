import Glibc

/// A file that is read in windows: however large it is, little of it is in memory, and one that
/// is cut short meanwhile is an error and no signal.
///
/// Unsafe code: the descriptor is owned here; the kernel writes within the buffer's size.
final class FileWindow {
    let path: String
    let size: UInt64
    private let descriptor: Int32
    private var window: [UInt8] = []
    private var windowStart: UInt64 = 0
    private static let windowSize = 1 << 20

    init(path: String) throws(PerfDataError) {
        self.path = path
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw PerfDataError(path: path, kind: .cannotOpen(errno: errno))
        }
        // Before opening: that would wait for a pipe's other end.
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw PerfDataError(path: path, kind: .notAFile)
        }
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            throw PerfDataError(path: path, kind: .cannotOpen(errno: errno))
        }
        size = UInt64(clamping: status.st_size)
    }

    deinit { close(descriptor) }

    /// Bytes of the file, for reading once: `count` of them, at most 64 KiB.
    func reader(at offset: UInt64, count: Int) throws(PerfDataError) -> ByteReader {
        if offset < windowStart || offset &- windowStart > UInt64(window.count)
            || UInt64(window.count) &- (offset &- windowStart) < UInt64(count)
        {
            window = []
            window = try read(at: offset, upTo: max(Self.windowSize, count))
            windowStart = offset
        }
        let start = Int(offset &- windowStart)
        guard window.count - start >= count else {
            throw PerfDataError(path: path, kind: .truncated, offset: offset)
        }
        return ByteReader(window, start..<start + count)
    }

    /// Bytes of the file, as many as there are.
    func read(at offset: UInt64, upTo count: Int) throws(PerfDataError) -> [UInt8] {
        var problem: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                guard let base = buffer.baseAddress,
                    let place = Int(exactly: offset &+ UInt64(filled))
                else { return }
                let got = pread(descriptor, base + filled, count - filled, place)
                if got > 0 {
                    filled += got
                } else if got == 0 {
                    return
                } else if errno != EINTR {
                    problem = errno
                    return
                }
            }
        }
        guard problem == 0 else {
            throw PerfDataError(path: path, kind: .cannotRead(errno: problem), offset: offset)
        }
        return bytes
    }
}
