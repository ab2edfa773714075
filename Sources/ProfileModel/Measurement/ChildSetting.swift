/// The surroundings in which a program starts, besides those that it inherits from us. The code
/// that made the value owns the descriptors, and keeps them open until the child has entered the
/// surroundings.
package struct ChildSetting: Hashable, Sendable {
    /// Namespaces (`/proc/PID/ns/…`), entered in this order; a user namespace comes first.
    package var namespaces: [Int32] = []
    /// True if one of them is a mount namespace: entering it leaves the current directory, which is
    /// then looked up again by its path.
    package var changesMounts = false
    /// The folder for our sockets that the program must reach; nil: the program is in our network
    /// namespace, where it reaches them by abstract names.
    package var socketFolder: String?
    /// Files `cgroup.procs` of control groups, open for writing.
    package var controlGroups: [Int32] = []
    /// Variables that it has in addition to ours, or instead of them; the last one of a name
    /// counts.
    package var environment: [EnvironmentChange] = []
    /// True if it leads its own process group. Then a terminal's Ctrl-C does not reach it.
    package var leadsGroup = false
    /// True if the kernel reports to us every file that it and its children open, by seccomp(2).
    /// Without `CAP_SYS_ADMIN` they then cannot gain privileges. Only for a launch that does not
    /// count.
    package var tellsOpens = false

    package init() {}
}

/// A variable of the environment, which need not be UTF-8.
package struct EnvironmentChange: Hashable, Sendable {
    package var name: [UInt8]
    /// nil: it is removed.
    package var value: [UInt8]?

    package init(name: [UInt8], value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    package init(_ name: String, _ value: String?) {
        self.init(name: Array(name.utf8), value: value.map { Array($0.utf8) })
    }

    /// Applies the changes to the words of an `environ`, which are without their final zeros.
    package static func apply(_ changes: [EnvironmentChange], to words: [[UInt8]]) -> [[UInt8]] {
        var result = words
        for change in changes {
            let start = change.name + [UInt8(ascii: "=")]
            result.removeAll { $0.starts(with: start) }
            if let value = change.value { result.append(start + value) }
        }
        return result
    }
}
