import Glibc
import System

/// A file's bytes, read in order without waiting; errors name the file.
struct FileBytes: ~Copyable {
    private let path: String
    private let file: Descriptor

    init(of path: String) throws(RecordingError) {
        self.path = path
        do throws(Errno) {
            file = try Descriptor(path, WholeFile.unwaiting)
        } catch {
            throw .cannotOpen(path: path, errno: error.number)
        }
    }

    /// At most `count` bytes; nil: as many as the file has now.
    func bytes(count: Int? = nil) throws(RecordingError) -> [UInt8] {
        do throws(Errno) {
            let size = Int(clamping: try file.status().st_size)
            return try file.bytes(count: count ?? size, expected: size)
        } catch {
            throw .cannotRead(path: path, errno: error.number)
        }
    }
}
