import CSystem
import Glibc
import System

/// A control group that limits how fast its processes read from disks. Reads from the page cache
/// are not limited.
struct DiskLimit: ~Copyable {
    private let group: Group
    private let lock: Int32
    /// The file for adding a process to the group.
    let processes: Int32

    private struct Group {
        var folder: String
        /// The group in which we have enabled the controller for its subgroups; nil: it was
        /// enabled.
        var enabledIn: String?
    }

    private static let prefix = "firstlight"

    init(_ rate: DiskRate) throws(ConditionError) {
        let trees = ControlGroupTree.find(
            mounts: FileText.text(of: "/proc/self/mountinfo") ?? "",
            groups: FileText.text(of: "/proc/self/cgroup") ?? "")
        try self.init(rate, trees: trees, devices: BlockDevice.all())
    }

    init(
        _ rate: DiskRate, trees: [ControlGroupTree], devices: [BlockDevice]
    ) throws(ConditionError) {
        let condition = "a disk rate (--disk)"
        guard !devices.isEmpty else {
            throw .unsupported(
                condition: condition, missing: "this machine has no disk in /sys/block",
                remedy: "only reading from disks can be slowed")
        }
        var problem = "no control groups for disks are mounted (cgroup v2 'io', v1 'blkio')"
        for tree in trees {
            for parent in tree.candidates {
                switch Self.make(in: parent, tree.version) {
                case .success(let made):
                    let code = Self.limit(made.folder, tree, rate, devices)
                    let file: Descriptor
                    do throws(Errno) {
                        guard code == 0 else { throw Errno(code) }
                        file = try Descriptor("\(made.folder)/cgroup.procs", O_WRONLY)
                    } catch {
                        Self.remove(made)
                        throw .failed(
                            condition: condition, step: "limiting the disks in \(made.folder)",
                            code: error.number)
                    }
                    group = made
                    lock = FolderLock.take(made.folder) ?? -1
                    processes = file.release()
                    return
                case .failure(let reason): problem = reason.words
                }
            }
        }
        throw .unsupported(
            condition: condition, missing: problem,
            remedy: "run as root, or in a group that has the controller and is yours "
                + "(systemd-run --user --scope -p Delegate=yes, where the user manager has 'io')")
    }

    deinit {
        close(processes)
        Self.remove(group)
        if lock >= 0 { close(lock) }
    }

    /// The kernel keeps the group as long as a process is in it.
    private static func remove(_ group: Group) {
        guard rmdir(group.folder) == 0, let parent = group.enabledIn else { return }
        _ = FileText.write("-io", to: "\(parent)/cgroup.subtree_control")
    }

    private struct Reason: Error { var words: String }

    private static func make(
        in parent: String, _ version: ControlGroupTree.Version
    ) -> Result<Group, Reason> {
        // A process may enter only if it may also leave a group below the same one.
        guard version == .one || access("\(parent)/cgroup.procs", W_OK) == 0 else {
            return .failure(Reason(words: "this user may not move processes out of \(parent)"))
        }
        for stale in FolderLock.unlocked(in: parent, prefix: prefix) { rmdir(stale) }
        var template = Array("\(parent)/\(prefix)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            return .failure(
                Reason(
                    words: "no group can be made in \(parent) "
                        + "(\(String(cString: strerror(errno))))"))
        }
        let folder = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let file = version == .one ? "blkio.throttle.read_bps_device" : "io.max"
        if access("\(folder)/\(file)", W_OK) == 0 { return .success(Group(folder: folder)) }
        // A group has only the controllers that its parent has enabled for it.
        if version == .two, FileText.write("+io", to: "\(parent)/cgroup.subtree_control") == 0,
            access("\(folder)/\(file)", W_OK) == 0
        {
            return .success(Group(folder: folder, enabledIn: parent))
        }
        rmdir(folder)
        return .failure(Reason(words: "the groups in \(parent) have no controller for disks"))
    }

    /// Returns 0 or an `errno`.
    private static func limit(
        _ folder: String, _ tree: ControlGroupTree, _ rate: DiskRate, _ devices: [BlockDevice]
    ) -> Int32 {
        for device in devices {
            let code =
                tree.version == .one
                ? FileText.write(
                    "\(device.number) \(rate.bytesPerSecond)",
                    to: "\(folder)/blkio.throttle.read_bps_device")
                : FileText.write(
                    "\(device.number) rbps=\(rate.bytesPerSecond)", to: "\(folder)/io.max")
            // An optical drive without a disk, or a device that was just removed, cannot be read.
            guard code == 0 || code == ENODEV || code == ENXIO || code == ENOMEDIUM else {
                return code
            }
        }
        return 0
    }
}

/// The value of `--disk`: the limit for reading from disks, in bytes per second.
package struct DiskRate: Hashable, Sendable {
    package var bytesPerSecond: Int64

    package init(bytesPerSecond: Int64) { self.bytesPerSecond = bytesPerSecond }

    /// `500K`, `1M`, `1.5MiB`, `2MB/s`: K, M and G are powers of 1024, as are KiB, MiB and GiB; KB,
    /// MB and GB are powers of 1000. At least a page per second.
    package init(parsing text: String) throws(ConditionError) {
        let plain = text.hasSuffix("/s") ? text.dropLast(2) : text[...]
        guard let value = Quantity.value(plain, units: Self.units), value >= 4096, value <= 1e15
        else {
            throw .badValue(
                condition: "--disk", value: text,
                expected: "bytes a second, at least 4K, as in 500K, 1M or 1.5MB")
        }
        bytesPerSecond = Int64(value)
    }

    private static let units: [String: Double] = {
        var units: [String: Double] = ["": 1, "b": 1]
        for (power, letter) in ["k", "m", "g"].enumerated() {
            let binary = Double(1 << (10 * (power + 1)))
            let decimal = (0...power).reduce(1.0) { value, _ in value * 1000 }
            units[letter] = binary
            units[letter + "ib"] = binary
            units[letter + "b"] = decimal
        }
        return units
    }()
}

/// A disk, with its name in control groups.
struct BlockDevice: Hashable {
    /// "254:0".
    var number: String
    /// "vda".
    var name: String

    /// All disks with content, except memory that looks like a disk. A program's files may be on
    /// any of them: a file system over several disks, or over another file system (overlay, Btrfs),
    /// does not reveal the disk.
    static func all(in folder: String = "/sys/block") -> [BlockDevice] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var found: [BlockDevice] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard !name.hasPrefix("."), !name.hasPrefix("zram"), !name.hasPrefix("ram"),
                let size = FileText.text(of: "\(folder)/\(name)/size").flatMap(Self.number),
                size > 0, let number = FileText.text(of: "\(folder)/\(name)/dev")
            else { continue }
            found.append(BlockDevice(number: String(number.prefix { $0 != "\n" }), name: name))
        }
        return found.sorted { $0.name < $1.name }
    }

    private static func number(_ text: String) -> Int64? { Int64(text.prefix { $0 != "\n" }) }
}

/// Checks whether a disk limit would slow a program at all.
enum DiskCheck {
    /// Refuses a program whose own file is not on a disk: the limit would not slow its start.
    static func check(program path: String) throws(ConditionError) {
        guard let file = try? CachedFile(path: path) else { return }
        guard !file.kind.isProvable, file.kind != .other else { return }
        throw .unsupported(
            condition: "a disk rate (--disk)",
            missing: "\(path) is on a \(file.kind.words), which reads from no disk of this machine",
            remedy: "copy the program to a disk")
    }
}
