import Glibc
import ProfileModel
import System

/// A folder of measurements, whose names sort by time: `2026-11-23T031209Z-1.4.2-0f3a….firstlight`.
package enum MeasurementFolder {
    package enum Added: Hashable, Sendable {
        /// By this path.
        case new(String)
        case known(String)
    }

    /// The measurements in a folder, found by their suffix, sorted by name. Hidden files, which may
    /// still be written, are left out.
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

    /// Copies a measurement into a folder, which is created if it is missing. The copy appears
    /// complete or not at all. The original stays.
    ///
    /// - Throws: also if it is not a measurement, or damaged.
    package static func add(_ path: String, to folder: String) throws(RecordingError) -> Added {
        // Loading undoes the incomplete transaction of a killed measurer.
        let measurement = try MeasurementReader.load(path: path)
        let bytes = try FileBytes(of: path).bytes()
        if mkdir(folder, 0o777) != 0, errno != EEXIST {
            throw .cannotCreate(path: folder, errno: errno)
        }
        let target = joined(folder, name(of: measurement.header, bytes))
        if (try? FileBytes(of: target).bytes()) == bytes { return .known(target) }
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

    /// Made from the date, the version, and the file's content.
    static func name(of header: Measurement.Header, _ bytes: [UInt8]) -> String {
        let version =
            header.versionName.map { "-" + FileNamePart.plain($0, most: longestVersion) } ?? ""
        return "\(FileNamePart.moment(header.date))\(version)-\(digest(bytes))\(suffix)"
    }

    /// Files with the same name are compared byte by byte.
    private static func digest(_ bytes: [UInt8]) -> String {
        let text = String(bytes.fingerprint, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }

    private static func joined(_ folder: String, _ name: String) -> String {
        folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }

    // MARK: Bytes

    /// Writes under a hidden name first.
    private static func write(
        _ bytes: [UInt8], to target: String, in folder: String
    ) throws(RecordingError) {
        let name = String(UInt64.random(in: 0 ... .max), radix: 36)
        let draft = joined(folder, ".firstlight-\(name)")
        do throws(Errno) {
            let file = try Descriptor(
                draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
            do throws(Errno) {
                try file.write(bytes)
                // A power cut must not leave a name without content.
                try file.synchronize()
                try file.finish()
                guard rename(draft, target) == 0 else { throw Errno(errno) }
            } catch {
                unlink(draft)
                throw error
            }
        } catch {
            throw .cannotCreate(path: target, errno: error.number)
        }
    }
}
