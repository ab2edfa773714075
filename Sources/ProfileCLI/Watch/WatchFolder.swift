import Glibc
import ProfileModel
import Recording

/// The folder for the files of `watch`. Only one process uses it at a time.
struct WatchFolder {
    enum Problem: Error, Hashable {
        case inUse(String)
        case cannotMake(String, errno: Int32)

        var message: String {
            switch self {
            case .inUse(let path):
                "another firstlight watch keeps its files in \(path): name another "
                    + "folder (--output DIR)"
            case .cannotMake(let path, let code):
                "cannot keep anything in \(path): \(String(cString: strerror(code)))"
            }
        }
    }

    /// One of the files that the limit applies to: a measurement or recording made by a `watch`.
    struct File: Hashable {
        var path: String
        /// In bytes, including its journal.
        var size: Int64
        /// When it was last written, in nanoseconds since 1970 UTC.
        var written: Int64
    }

    let path: String

    /// Creates the folder, for its owner alone, and locks it as long as this process lives.
    init(_ path: String) throws(Problem) {
        self.path = path
        try Self.make(path)
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let lock = open("\(path)/.watch.lock", flags, 0o600)
        guard lock >= 0 else { throw .cannotMake(path, errno: errno) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(lock)
            throw code == EWOULDBLOCK ? .inUse(path) : .cannotMake(path, errno: code)
        }
    }

    private static func make(_ path: String) throws(Problem) {
        var folder = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/") {
            folder += "/\(part)"
            if mkdir(folder, 0o700) != 0, errno != EEXIST {
                // A parent folder may exist without being ours to create.
                let code = errno
                guard access(folder, F_OK) == 0 else { throw .cannotMake(path, errno: code) }
            }
        }
    }

    // MARK: Names

    private static let suffix = ".firstlight"
    private static let longestName = 60

    /// A path for a new file: `PROGRAM-20261126T170531Z-0f3a5c77.firstlight`.
    ///
    /// - Parameter date: in nanoseconds since 1970 UTC.
    func newFile(of program: String, date: Int64) -> String {
        "\(path)/\(Self.name(program, date))"
    }

    /// The same for a recording. Recordings have their own folder, so that readers of a folder of
    /// measurements do not find them.
    func newRecording(of program: String, date: Int64) -> String {
        // If it cannot be created, the recorder will fail.
        mkdir(recordings, 0o700)
        return "\(recordings)/\(Self.name(program, date))"
    }

    private var recordings: String { "\(path)/recordings" }

    private static func name(_ program: String, _ date: Int64) -> String {
        let number = String(UInt32.random(in: 0 ... .max), radix: 16)
        let mark = String(repeating: "0", count: 8 - number.utf8.count) + number
        return "\(plain(program))-\(FileNamePart.moment(date, separator: ""))-\(mark)\(suffix)"
    }

    /// The program's name as part of a file name: it is not a hidden file, and does not look like
    /// an option.
    static func plain(_ program: String) -> String {
        let name = FileNamePart.plain(program, most: longestName)
        return name.isEmpty || name.hasPrefix(".") || name.hasPrefix("-") ? "_\(name)" : name
    }

    /// True if the name looks like one made by a `watch`.
    static func isOurs(_ name: String) -> Bool {
        guard name.hasSuffix(suffix) else { return false }
        let parts = name.dropLast(suffix.utf8.count).split(
            separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 3, let mark = parts.last else { return false }
        let moment = Array(parts[parts.count - 2].utf8)
        let isMoment =
            moment.count == 16 && moment[8] == UInt8(ascii: "T") && moment[15] == UInt8(ascii: "Z")
            && (moment[..<8] + moment[9..<15]).allSatisfy { 0x30...0x39 ~= $0 }
        return isMoment && mark.utf8.count == 8
            && mark.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
    }

    // MARK: Contents

    /// The files that a `watch` has made, the oldest first. A folder that cannot be listed counts
    /// as empty.
    func files() -> [File] {
        (Self.files(in: path) + Self.files(in: recordings))
            .sorted { ($0.written, $0.path) < ($1.written, $1.path) }
    }

    private static func files(in folder: String) -> [File] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var found: [File] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard isOurs(name), let file = file("\(folder)/\(name)") else { continue }
            found.append(file)
        }
        return found
    }

    private static func file(_ path: String) -> File? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let written = status.st_mtim
        var size = Int64(status.st_size)
        if lstat(journal(path), &status) == 0 { size += Int64(status.st_size) }
        return File(
            path: path, size: size,
            written: Int64(written.tv_sec) &* 1_000_000_000 &+ Int64(written.tv_nsec))
    }

    private static func journal(_ path: String) -> String { path + "-journal" }

    /// Removes files that a killed watch created but had not written to.
    func removeUnbegun() {
        var status = stat()
        for file in files() where lstat(file.path, &status) == 0 && status.st_size == 0 {
            unlink(file.path)
            unlink(Self.journal(file.path))
        }
    }

    /// - Returns: how many launches were removed with it; nil: it could not be removed.
    func remove(_ file: File) -> Int? {
        let launches = (try? MeasurementReader.load(path: file.path))?.launches.count ?? 0
        guard unlink(file.path) == 0 else { return nil }
        unlink(Self.journal(file.path))
        return launches
    }
}

/// Chooses the files to delete so that the others fit.
enum FolderBound {
    /// The oldest first; files that are being written stay.
    ///
    /// - Parameter files: the oldest first.
    static func tooMany(
        _ files: [WatchFolder.File], limit: Int64, open: Set<String>
    ) -> [WatchFolder.File] {
        var sum = files.reduce(0) { $0 + $1.size }
        var result: [WatchFolder.File] = []
        for file in files where sum > limit && !open.contains(file.path) {
            sum -= file.size
            result.append(file)
        }
        return result
    }
}
