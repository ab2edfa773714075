/// True if a thread's control group keeps it from running, as a paused container's does:
/// cgroups(7).
package struct ControlGroupFreezer {
    /// Where the hierarchies are mounted, each with the part of it that is mounted there.
    private var version1: [Mount] = []
    private var version2: [Mount] = []

    private struct Mount: Hashable {
        var top: String
        var place: String
    }

    /// - Parameter mounts: the text of /proc/self/mountinfo.
    package init(mounts: String) {
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ").map(String.init)
            guard let dash = fields.firstIndex(of: "-"), dash >= 6, fields.count > dash + 3 else {
                continue
            }
            let mount = Mount(top: fields[3], place: fields[4])
            if fields[dash + 1] == "cgroup2" {
                version2.append(mount)
            } else if fields[dash + 1] == "cgroup",
                fields[dash + 3].split(separator: ",").contains("freezer")
            {
                version1.append(mount)
            }
        }
    }

    /// The hierarchies as the recorder finds them.
    package static let ofThisSystem: ControlGroupFreezer = {
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/self/mountinfo", limit: 1 << 20)
        return ControlGroupFreezer(mounts: String(decoding: buffer.contents, as: UTF8.self))
    }()

    /// - Parameters:
    ///   - groups: the text of /proc/PID/task/TID/cgroup.
    ///   - read: a file's text; empty if it cannot be read.
    package func isFrozen(groups: String, read: (String) -> String) -> Bool {
        groups.split(separator: "\n").contains { line in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return false }
            if parts[0] == "0", parts[1].isEmpty {
                return version2.contains { mount in
                    read(Self.folder(of: parts[2], mount) + "/cgroup.events")
                        .split(separator: "\n").contains("frozen 1")
                }
            }
            guard parts[1].split(separator: ",").contains("freezer") else { return false }
            return version1.contains { mount in
                read(Self.folder(of: parts[2], mount) + "/freezer.state").hasPrefix("FROZEN")
            }
        }
    }

    private static func folder(of group: Substring, _ mount: Mount) -> String {
        // Only a part of the hierarchy may be mounted, as in containers.
        guard mount.top != "/", group.hasPrefix(mount.top) else { return mount.place + group }
        return mount.place + group.dropFirst(mount.top.count)
    }
}
