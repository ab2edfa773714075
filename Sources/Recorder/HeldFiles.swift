import Glibc
package import ProfileModel
import System

/// Keeps open, while processes live, what will be needed of them after their end:
///
/// - files that were mapped and are no longer where their mappings say;
/// - the programs' own files, which somebody may build anew before they end;
/// - the root of a recorded process, if it is another than ours (in a container, after `chroot`).
package final class HeldFiles: @unchecked Sendable {
    // Used by the recording thread only, until that was joined.

    /// Where the mapped file of a module can still be opened.
    package private(set) var standIns: [Module: String] = [:]
    /// The recorded process's root directory; nil: the same as ours.
    package private(set) var root: String?
    /// The user who runs the recorded process; nil: the process had already ended.
    package private(set) var owner: UInt32?
    private var descriptors: [Int32] = []
    private var pid: Int32?
    private var processes = 0

    /// The most descriptors for one process's files. A program has a handful of such files, if any.
    private static let most = 64
    /// The most descriptors for all processes of a recording.
    private static let mostOfAll = 1024

    package init() {}

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }

    /// Begins with a process. The first is the recorded one.
    func begin(_ pid: Int32) {
        processes += 1
        guard self.pid == nil else { return }
        self.pid = pid
        owner = Self.status(of: "/proc/\(pid)").map(\.st_uid)
        holdOtherRoot(of: pid)
    }

    /// Keeps a root that differs from ours. The root may change at any time: a wrapper enters the
    /// container before the program runs.
    private func holdOtherRoot(of pid: Int32) {
        guard root == nil, pid == self.pid,
            !Self.areSame("/proc/\(pid)/root/", "/")
                || !Self.areSame("/proc/\(pid)/ns/mnt", "/proc/self/ns/mnt")
        else { return }
        root = hold { () throws(Errno) in try Descriptor("/proc/\(pid)/root", O_DIRECTORY) }
    }

    /// True also if one of them is not known.
    private static func areSame(_ left: String, _ right: String) -> Bool {
        guard let left = status(of: left), let right = status(of: right) else { return true }
        return left.st_ino == right.st_ino && left.st_dev == right.st_dev
    }

    /// Keeps the file of a module that was just mapped, unless it is the system's and its path
    /// leads there.
    /// - Parameters:
    ///   - pid: the process that mapped it.
    ///   - paths: other ways to the mapped file.
    func keep(_ module: Module, _ mapping: CodeMapping, of pid: Int32, paths: [String]) {
        guard mapping.inode != 0, mapping.path.hasPrefix("/"), standIns[module] == nil else {
            return
        }
        let isElsewhere =
            Self.status(of: mapping.path).map { UInt64($0.st_ino) } != mapping.inode
        if isElsewhere { holdOtherRoot(of: pid) }
        guard isElsewhere || module.isOwn else { return }
        for path in [mapping.path] + paths {
            guard let status = Self.status(of: path), UInt64(status.st_ino) == mapping.inode,
                let held = hold({ () throws(Errno) in try Descriptor(regular: path) })
            else { continue }
            standIns[module] = held
            return
        }
    }

    private func hold(_ open: () throws(Errno) -> Descriptor) -> String? {
        guard descriptors.count < min(processes * Self.most, Self.mostOfAll),
            let file = try? open(), DescriptorReserve.leaves(file.number)
        else { return nil }
        let descriptor = file.release()
        descriptors.append(descriptor)
        return "/proc/self/fd/\(descriptor)"
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }
}
