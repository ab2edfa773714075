import ELF
import Glibc
import Launching
import Sampler
import System

/// The builds of watched programs: the first digits of their executables' build ids. Each file is
/// read once.
struct BuildVersions {
    private struct File: Hashable {
        var device: dev_t
        var inode: ino_t
        var size: off_t
        var seconds: Int
        var nanoseconds: Int
    }

    /// nil: it has no build id.
    private var known: [File: String?] = [:]

    private static let digits = 12
    /// A machine that builds programs all day produces new build ids without end.
    private static let most = 4096

    /// nil: the file has no build id, or it is no longer known. After a process's end only its
    /// program's path is left, and another file may be there now.
    mutating func version(of program: WatchedProgram, running pid: Int32) -> String? {
        if let version = version(ofFileAt: "/proc/\(pid)/exe", program, isInode: false) {
            return version
        }
        guard program.inode != 0 else { return nil }
        return version(ofFileAt: program.executable, program, isInode: true)
    }

    /// The file is opened only once, because the path may lead to another file later.
    private mutating func version(
        ofFileAt path: String, _ program: WatchedProgram, isInode: Bool
    ) -> String? {
        guard let descriptor = try? Descriptor(path, WholeFile.unwaiting) else { return nil }
        // It stays open while its name is used.
        defer { withExtendedLifetime(descriptor) {} }
        let name = "/proc/self/fd/\(descriptor.number)"
        guard let file = Self.file(descriptor.number),
            isInode ? UInt64(file.inode) == program.inode : Self.target(name) == program.executable
        else { return nil }
        if let version = known[file] { return version }
        let version = ELFFile.buildID(ofFile: name).map { String($0.prefix(Self.digits)) }
        if known.count >= Self.most { known = [:] }
        known[file] = version
        return version
    }

    /// nil: it is no regular file.
    private static func file(_ descriptor: Int32) -> File? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        let changed = status.st_mtim
        return File(
            device: status.st_dev, inode: status.st_ino, size: status.st_size,
            seconds: changed.tv_sec, nanoseconds: changed.tv_nsec)
    }

    private static func target(_ link: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = readlink(link, &bytes, bytes.count)
        return length > 0 ? String(decoding: bytes.prefix(length), as: UTF8.self) : nil
    }
}
