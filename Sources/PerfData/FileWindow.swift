import Glibc
import System

/// A file that is read in windows. However large it is, only little of it is in memory. If it is
/// truncated during reading, that is an error, not a signal.
final class FileWindow {
    let path: String
    let size: UInt64
    private let file: Descriptor
    private var window: [UInt8] = []
    private var windowStart: UInt64 = 0
    private static let windowSize = 1 << 20

    init(path: String) throws(PerfDataError) {
        self.path = path
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw PerfDataError(path: path, kind: .cannotOpen(errno: errno))
        }
        // Check before opening: opening would wait for a pipe's other end.
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw PerfDataError(path: path, kind: .notAFile)
        }
        do throws(Errno) {
            file = try Descriptor(path, WholeFile.unwaiting)
        } catch {
            throw PerfDataError(path: path, kind: .cannotOpen(errno: error.number))
        }
        size = UInt64(clamping: status.st_size)
    }

    /// `count` bytes of the file, at most 64 KiB, to be read once.
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

    /// At most `count` bytes of the file.
    func read(at offset: UInt64, upTo count: Int) throws(PerfDataError) -> [UInt8] {
        do throws(Errno) {
            return try file.bytes(at: offset, count: count)
        } catch {
            throw PerfDataError(path: path, kind: .cannotRead(errno: error.number), offset: offset)
        }
    }
}
