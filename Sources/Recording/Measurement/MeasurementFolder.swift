import Glibc
import ProfileModel

/// A folder of measurements, whose names keep them in the order of time:
/// `2026-11-23T031209Z-1.4.2-0f3a….firstlight`.
package enum MeasurementFolder {
    package enum Added: Hashable, Sendable {
        /// By this path.
        case new(String)
        case known(String)
    }

    /// The measurements in a folder, by the name's end, in the order of their names. Hidden ones, which
    /// somebody may be writing, are left out.
    package static func files(in folder: String) throws(RecordingError) -> [String] {
        guard let stream = opendir(folder) else {
            throw .cannotOpen(path: folder, errno: errno)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(suffix), !name.hasPrefix(".") { names.append(name) }
        }
        guard errno == 0 else { throw .cannotRead(path: folder, errno: errno) }
        return names.sorted().map { joined(folder, $0) }
    }

    package static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Copies a measurement into a folder, which is made if there is none. It is there as a whole or
    /// not at all. The file itself stays.
    ///
    /// - Throws: also where it is no measurement, or damaged.
    package static func add(_ path: String, to folder: String) throws(RecordingError) -> Added {
        // What a killed measurer left half written is undone by that.
        let measurement = try MeasurementReader.load(path: path)
        let bytes = try contents(of: path)
        if mkdir(folder, 0o777) != 0, errno != EEXIST {
            throw .cannotCreate(path: folder, errno: errno)
        }
        let target = joined(folder, name(of: measurement.header, bytes))
        if (try? contents(of: target)) == bytes { return .known(target) }
        var status = stat()
        guard lstat(target, &status) != 0 else {
            throw .wouldReplace(path: target, by: .measurement)
        }
        try write(bytes, to: target, in: folder)
        return .new(target)
    }

    // MARK: Names

    private static let suffix = ".firstlight"
    private static let longestVersion = 40

    /// From the date, the version and what the file holds.
    static func name(of header: Measurement.Header, _ bytes: [UInt8]) -> String {
        let version =
            header.versionName.map { "-" + FileNamePart.plain($0, most: longestVersion) } ?? ""
        return "\(FileNamePart.moment(header.date))\(version)-\(digest(bytes))\(suffix)"
    }

    /// What has the same name is compared byte by byte.
    private static func digest(_ bytes: [UInt8]) -> String {
        let text = String(bytes.fingerprint, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }

    private static func joined(_ folder: String, _ name: String) -> String {
        folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }

    // MARK: Bytes

    private static func contents(of path: String) throws(RecordingError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw .cannotOpen(path: path, errno: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw .cannotRead(path: path, errno: errno)
        }
        var bytes = [UInt8](repeating: 0, count: max(0, Int(status.st_size)))
        var filled = 0
        while filled < bytes.count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                read(descriptor, buffer.baseAddress?.advanced(by: filled), buffer.count - filled)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .cannotRead(path: path, errno: errno) }
            if got == 0 { break }
            filled += got
        }
        bytes.removeSubrange(filled...)
        return bytes
    }

    /// Under a hidden name first.
    private static func write(
        _ bytes: [UInt8], to target: String, in folder: String
    ) throws(RecordingError) {
        let name = String(UInt64.random(in: 0 ... .max), radix: 36)
        let draft = joined(folder, ".firstlight-\(name)")
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .cannotCreate(path: target, errno: errno) }
        var problem = written(bytes, to: descriptor)
        if close(descriptor) != 0, problem == 0 { problem = errno }
        if problem == 0, rename(draft, target) != 0 { problem = errno }
        guard problem != 0 else { return }
        unlink(draft)
        throw .cannotCreate(path: target, errno: problem)
    }

    /// - Returns: 0, or the number of what went wrong.
    private static func written(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { return errno }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            }
            // A power cut must not leave a name without a file.
            return fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno
        }
    }
}
