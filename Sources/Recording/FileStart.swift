import Glibc
import System

/// The first 100 bytes of an SQLite file (sqlite.org/fileformat.html), read without SQLite: enough
/// to recognise our files before a library parses them.
struct FileStart {
    private static let size = 100
    private static let magic = Array("SQLite format 3\0".utf8)

    private var bytes: [UInt8]

    /// Throws `notAFile`, `empty`, `notARecording` if it is not an SQLite file, or an error that
    /// says why it cannot be read.
    init(of path: String, expecting kind: FileKind) throws(RecordingError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .cannotOpen(path: path, errno: errno) }
        // Check before opening: opening would wait for a pipe's other end, or wake up a device.
        if let kind = Self.kind(status.st_mode) { throw .notAFile(path: path, kind: kind) }
        bytes = try Self.read(path)
        if bytes.isEmpty { throw .empty(path: path) }
        guard bytes.count == Self.size, bytes.starts(with: Self.magic) else {
            throw .notARecording(path: path, expected: kind)
        }
    }

    /// The name of a file's kind with its article; nil for a regular file.
    private static func kind(_ mode: mode_t) -> String? {
        switch mode & S_IFMT {
        case S_IFREG: nil
        case S_IFDIR: "a directory"
        case S_IFIFO: "a pipe"
        case S_IFSOCK: "a socket"
        default: "a device"
        }
    }

    private static func read(_ path: String) throws(RecordingError) -> [UInt8] {
        try FileBytes(of: path).bytes(count: size)
    }

    private func integer(at offset: Int) -> Int32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int32($1) }
    }

    /// True if firstlight wrote the file, whatever its kind.
    var isOurs: Bool { integer(at: 68) == Schema.applicationID }

    var userVersion: Int32 { integer(at: 60) }

    /// True if the file at `path`, which begins like this, ends within a page. SQLite notices only
    /// missing whole pages.
    func isCutShort(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, pageSize > 0 else { return true }
        return !Int(status.st_size).isMultiple(of: pageSize)
    }

    /// In bytes; the value 1 stands for 65,536, which does not fit.
    private var pageSize: Int {
        let value = Int(bytes[16]) << 8 | Int(bytes[17])
        return value == 1 ? 1 << 16 : value
    }

    /// True if SQLite would look for files other than a rollback journal.
    var usesWriteAheadLog: Bool { bytes[18] != 1 || bytes[19] != 1 }
}

/// The end of a rollback journal.
enum Journal {
    /// A journal may name a "super-journal", for a transaction over several files. SQLite would
    /// delete that file in the end, whatever it is. A recorder never writes such a name. It could
    /// serve only to have a file deleted.
    static func namesAnotherFile(_ path: String) -> Bool {
        let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        guard let file = try? Descriptor(path, WholeFile.unwaiting) else { return false }
        let end = lseek(file.number, 0, SEEK_END)
        guard end >= off_t(2 * magic.count) else { return false }
        return (try? file.bytes(at: UInt64(end) - UInt64(magic.count), count: magic.count)) == magic
    }
}

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
