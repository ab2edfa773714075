import Glibc
import System

/// A file's bytes, read in order without waiting; errors name the file.
struct FileBytes: ~Copyable {
    private let path: String
    private let file: Descriptor

    init(of path: String) throws(RecordingError) {
        // Set both or neither: nothing is left half initialised if this throws.
        let file: Descriptor
        do throws(Errno) {
            file = try Descriptor(path, WholeFile.unwaiting)
        } catch {
            throw .cannotOpen(path: path, errno: error.number)
        }
        self.path = path
        self.file = file
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
