import Glibc

/// A file that should be a recording.
package struct FoundRecording: Hashable, Sendable {
    package var path: String
    /// When it was last written, in nanoseconds since 1970.
    package var written: Int64
    /// True if it was found in a folder, not named by the user.
    package var isFromFolder: Bool
}

/// Finds recordings in folders and their subfolders: the files that end in `.firstlight`. Hidden
/// files are left out, and links to folders are not followed.
package struct RecordingSearch {
    /// Sorted from the oldest; each file once.
    package private(set) var found: [FoundRecording] = []
    /// Files and folders that could not be read.
    package private(set) var problems: [RecordingError] = []
    /// Positions in `found`, by device and number of the file.
    private var known: [[UInt64]: Int] = [:]

    private static let suffix = ".firstlight"
    private static let deepest = 32

    /// - Parameter paths: folders, and files with any name.
    package init(_ paths: [String]) {
        for path in paths {
            var status = stat()
            guard stat(path, &status) == 0 else {
                problems.append(.cannotOpen(path: path, errno: errno))
                continue
            }
            if status.st_mode & S_IFMT == S_IFDIR {
                look(into: path, depth: 1)
            } else {
                add(path, status, isFromFolder: false)
            }
        }
        found.sort { ($0.written, $0.path) < ($1.written, $1.path) }
    }

    private mutating func add(_ path: String, _ status: stat, isFromFolder: Bool) {
        let identity = [UInt64(status.st_dev), UInt64(status.st_ino)]
        if let place = known[identity] {
            // Problems with a file that the user has named, too, are reported.
            if !isFromFolder { found[place].isFromFolder = false }
            return
        }
        known[identity] = found.count
        let seconds = Int64(status.st_mtim.tv_sec)
        let written = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        found.append(
            FoundRecording(
                path: path,
                written: written.overflow
                    ? seconds.signum() * .max
                    : written.partialValue &+ Int64(status.st_mtim.tv_nsec),
                isFromFolder: isFromFolder))
    }

    private mutating func look(into folder: String, depth: Int) {
        guard depth <= Self.deepest else { return }
        guard let names = Self.names(in: folder) else {
            problems.append(.cannotOpen(path: folder, errno: errno))
            return
        }
        for name in names.sorted() where !name.hasPrefix(".") {
            let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR {
                look(into: path, depth: depth + 1)
            } else if name.hasSuffix(Self.suffix), stat(path, &status) == 0,
                status.st_mode & S_IFMT == S_IFREG
            {
                add(path, status, isFromFolder: true)
            }
        }
    }

    /// nil: the folder cannot be read; `errno` tells why.
    private static func names(in folder: String) -> [String]? {
        guard let stream = opendir(folder) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            // Unsafe code: readdir(3) gives a name that ends in a zero.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            names.append(name)
        }
        return names
    }
}
