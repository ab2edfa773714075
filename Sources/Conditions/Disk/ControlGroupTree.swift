/// Where the kernel's control groups are, and where we are among them: cgroups(7).
struct ControlGroupTree: Hashable {
    enum Version: Hashable {
        /// A hierarchy of its own for the controller `blkio`.
        case one
        case two
    }

    var version: Version
    /// The folders of the whole hierarchy, and of our own group.
    var root: String
    var own: String

    /// The hierarchies in which disks can be limited. One of version 1 comes first, because only
    /// one hierarchy has the controller.
    ///
    /// - Parameters:
    ///   - mounts: the text of /proc/self/mountinfo.
    ///   - groups: the text of /proc/self/cgroup.
    static func find(mounts: String, groups: String) -> [ControlGroupTree] {
        var found: [ControlGroupTree] = []
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ").map(String.init)
            guard let dash = fields.firstIndex(of: "-"), dash >= 6, fields.count > dash + 3 else {
                continue
            }
            let (top, place) = (unescaped(fields[3]), unescaped(fields[4]))
            let options = fields[dash + 3].split(separator: ",")
            let version: Version
            switch fields[dash + 1] {
            case "cgroup" where options.contains("blkio"): version = .one
            case "cgroup2": version = .two
            default: continue
            }
            guard let path = ownPath(version, groups) else { continue }
            // Only a part of the hierarchy may be mounted, as in containers.
            let below = path.hasPrefix(top) ? String(path.dropFirst(top.count)) : "/"
            let inside = top == "/" ? path : below
            let own = inside == "/" || inside.isEmpty ? place : place + inside
            found.append(ControlGroupTree(version: version, root: place, own: own))
        }
        return found.sorted { $0.version == .one && $1.version == .two }
    }

    private static func ownPath(_ version: Version, _ groups: String) -> String? {
        for line in groups.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            switch version {
            case .one where parts[1].split(separator: ",").contains("blkio"):
                return String(parts[2])
            case .two where parts[0] == "0" && parts[1].isEmpty: return String(parts[2])
            default: continue
            }
        }
        return nil
    }

    /// Decodes octal escapes of mountinfo: `\040` is a space.
    static func unescaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            guard byte == UInt8(ascii: "\\"), digits.count == 3,
                digits.allSatisfy({ (48...55).contains($0) })
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(UInt8(truncatingIfNeeded: digits.reduce(0) { $0 * 8 + Int($1 - 48) }))
            rest = rest.dropFirst(3)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The groups in which we may make a new one: first ours, then those above it.
    var candidates: [String] {
        var found = [own]
        while let last = found.last, last.count > root.count, last.hasPrefix(root),
            let slash = last.lastIndex(of: "/")
        {
            found.append(String(last[..<slash]))
        }
        return found
    }
}
