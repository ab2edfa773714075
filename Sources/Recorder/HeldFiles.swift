import CSystem
import Glibc
package import ProfileModel
import Synchronization

/// What will be needed of a process after its end, kept open while it lives: files that were
/// mapped and are no longer where their mappings say; the program's own files, which somebody may
/// build anew before it ends; and the root of a process that has another than ours (in a
/// container, after `chroot`).
package final class HeldFiles: @unchecked Sendable {
    // Used by the recording thread only, until that was joined.

    /// Where the mapped file of a module can still be opened.
    package private(set) var standIns: [Module: String] = [:]
    /// The process's root directory; nil: its paths lead where ours do.
    package private(set) var root: String?
    /// The user who runs the process; nil: it had ended already.
    package private(set) var owner: UInt32?
    private var descriptors: [Int32] = []
    private var pid: Int32 = 0

    /// More descriptors are not spent on them. A program has a handful of such files, if any.
    private static let most = 64
    /// Nor more for all processes of a recording.
    private static let mostOfAll = 1024
    private static let count = Atomic(0)

    package init() {}

    deinit {
        for descriptor in descriptors { close(descriptor) }
        Self.count.subtract(descriptors.count, ordering: .relaxed)
    }

    func begin(_ pid: Int32) {
        self.pid = pid
        owner = Self.status(of: "/proc/\(pid)").map(\.st_uid)
        holdOtherRoot()
    }

    /// It may be changed at any time: a wrapper enters the container before the program runs.
    private func holdOtherRoot() {
        guard root == nil,
            !Self.areSame("/proc/\(pid)/root/", "/")
                || !Self.areSame("/proc/\(pid)/ns/mnt", "/proc/self/ns/mnt")
        else { return }
        root = hold { open("/proc/\(pid)/root", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    }

    /// Also where one of them is not known.
    private static func areSame(_ left: String, _ right: String) -> Bool {
        guard let left = status(of: left), let right = status(of: right) else { return true }
        return left.st_ino == right.st_ino && left.st_dev == right.st_dev
    }

    /// Keeps the file of a module that was just mapped, unless it is the system's and its path
    /// leads there.
    /// - Parameter paths: other ways to the mapped file.
    func keep(_ module: Module, _ mapping: CodeMapping, paths: [String]) {
        guard mapping.inode != 0, mapping.path.hasPrefix("/"), standIns[module] == nil else {
            return
        }
        let isElsewhere =
            Self.status(of: mapping.path).map { UInt64($0.st_ino) } != mapping.inode
        if isElsewhere { holdOtherRoot() }
        guard isElsewhere || module.isOwn else { return }
        for path in [mapping.path] + paths {
            guard let status = Self.status(of: path), UInt64(status.st_ino) == mapping.inode,
                let held = hold({ fl_open_regular(path, 0) })
            else { continue }
            standIns[module] = held
            return
        }
    }

    private func hold(_ open: () -> Int32) -> String? {
        guard descriptors.count < Self.most,
            Self.count.load(ordering: .relaxed) < Self.mostOfAll
        else { return nil }
        let descriptor = open()
        guard descriptor >= 0 else { return nil }
        descriptors.append(descriptor)
        Self.count.add(1, ordering: .relaxed)
        return "/proc/self/fd/\(descriptor)"
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }
}
