/// What a program is started in, beside what it inherits from us. The descriptors belong to whoever
/// made the value, and stay open until the child has entered it.
package struct ChildSetting: Hashable, Sendable {
    /// Namespaces (`/proc/PID/ns/…`), entered in this order; a user namespace comes first.
    package var namespaces: [Int32] = []
    /// One of them is a mount namespace: entering it leaves the current directory, which is then
    /// looked up again by its path.
    package var changesMounts = false
    /// Where sockets of ours are that it must reach; nil: it is in our network namespace, and abstract
    /// names reach it.
    package var socketFolder: String?
    /// Files `cgroup.procs` of control groups, open for writing.
    package var controlGroups: [Int32] = []
    /// Variables that it has beside ours, or instead; of the same name the last counts.
    package var environment: [EnvironmentChange] = []
    /// It leads a process group of its own. A terminal's Ctrl-C does not reach it then.
    package var leadsGroup = false
    /// The kernel tells us of every file that it and its children open, by seccomp(2). Without
    /// `CAP_SYS_ADMIN` they cannot gain privileges then. Only for a launch that does not count.
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

    /// Such words as `environ` has, without their final zeros, after the changes.
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
