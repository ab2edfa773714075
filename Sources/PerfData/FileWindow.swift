import Glibc
import System

/// A file that is read in windows: however large it is, little of it is in memory, and one that
/// is cut short meanwhile is an error and no signal.
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
        // Before opening: that would wait for a pipe's other end.
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
        do throws(Errno) {
            return try file.bytes(at: offset, count: count)
        } catch {
            throw PerfDataError(path: path, kind: .cannotRead(errno: error.number), offset: offset)
        }
    }
}
