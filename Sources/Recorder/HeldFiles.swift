import Glibc
import ProcessIO
package import ProfileModel
package import Runtimes
import Sampler
import System

/// Keeps open, while processes live, the files that we shall need after their end:
///
/// - mapped files that are no longer where their mappings say;
/// - the programs' own files, which may be rebuilt before the processes end;
/// - the roots of processes whose roots differ from ours (in a container, after `chroot`).
package final class HeldFiles: @unchecked Sendable {
    // Used by the recording thread only, until that was joined.

    /// Where the mapped file of a module can still be opened.
    package private(set) var standIns: [Module: String] = [:]
    /// The recorded process's root directory; nil: the same as ours.
    package var root: String? {
        pid.flatMap { maps[$0]?.root }.flatMap { $0.isEmpty ? nil : $0 }
    }
    /// The root directories of all processes whose roots differ from ours.
    package var roots: [String] { held.map(\.path) }
    /// Where processes write lists of their generated code, by process id.
    package private(set) var maps: [Int32: PerfMapPlace] = [:]
    /// The root directories of the processes with these scripts (empty: ours). A script that
    /// several processes run from different roots is left out.
    package var scriptRoots: [String: String] { scripts.compactMapValues { $0 } }

    private var scripts: [String: String?] = [:]
    private var held: [(root: Root, path: String)] = []
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
        // Until we look at a child, we assume that it has the recorded process's root.
        maps[pid] = self.pid.flatMap { maps[$0]?.pid == $0 ? maps[$0] : nil }
        maps[pid]?.pid = pid
        guard self.pid == nil else { return }
        self.pid = pid
        look(at: pid)
    }

    /// Notes how a process sees itself, while it lives. This may change at any time: a wrapper
    /// enters the container before the program runs; a server gives up its privileges.
    func look(at pid: Int32) {
        guard let ids = InnerIDs(of: pid), let root = path(toRootOf: pid) else { return }
        let owners = maps[pid]?.owners ?? []
        maps[pid] = PerfMapPlace(
            pid: ids.pid, root: root, owners: owners.union([ids.user]),
            since: ProcessAge.start(of: pid))
    }

    /// A root directory, with the file systems that are mounted there.
    private struct Root: Hashable {
        var device: UInt
        var inode: UInt
        var namespace: UInt

        /// nil: we may not read it.
        init?(of process: String) {
            guard let root = HeldFiles.status(of: "/proc/\(process)/root/"),
                let namespace = HeldFiles.status(of: "/proc/\(process)/ns/mnt")
            else { return nil }
            (device, inode) = (UInt(root.st_dev), UInt(root.st_ino))
            self.namespace = UInt(namespace.st_ino)
        }
    }

    /// Keeps the process's root if it differs from ours.
    ///
    /// - Returns: how to reach it; empty: it is ours; nil: not known.
    private func path(toRootOf pid: Int32) -> String? {
        guard let root = Root(of: "\(pid)"), let own = Root(of: "self") else { return nil }
        if root == own { return "" }
        if let known = held.first(where: { $0.root == root }) { return known.path }
        guard
            let path = hold({ () throws(Errno) in try Descriptor("/proc/\(pid)/root", O_DIRECTORY) }
            )
        else { return nil }
        // Without the namespace, the file systems mounted below the root would vanish with the
        // namespace's last process.
        _ = hold { () throws(Errno) in try Descriptor("/proc/\(pid)/ns/mnt") }
        held.append((root, path))
        return path
    }

    /// Notes that a process runs a script's functions.
    func note(script: String, of pid: Int32) {
        guard let root = maps[pid]?.root else { return }
        switch scripts[script] {
        case nil: scripts[script] = .some(root)
        case .some(root): break
        default: scripts[script] = .some(nil)
        }
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
        if isElsewhere { look(at: pid) }
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

    fileprivate static func status(of path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }
}
