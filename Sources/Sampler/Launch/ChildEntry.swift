import CSystem
import Glibc
import ProfileModel

extension ChildSetting {
    /// False: a child has nothing to enter before it executes its program.
    private var needsEntering: Bool {
        !namespaces.isEmpty || !controlGroups.isEmpty || leadsGroup || tellsOpens
    }

    /// As ``fl_fork_held`` wants it, within `body`; nil: there is nothing to enter.
    ///
    /// - Parameter listener: what tells of opened files; -1: nothing does.
    func withEntry<Value>(
        listener: inout Int32, _ body: (UnsafeMutablePointer<fl_child_setting>?) -> Value
    ) -> Value {
        guard needsEntering else { return body(nil) }
        // A folder that has no path any more is left: the program has none in a mount namespace.
        let folder = changesMounts ? getcwd(nil, 0) : nil
        defer { free(folder) }
        return namespaces.withUnsafeBufferPointer { namespaces in
            controlGroups.withUnsafeBufferPointer { groups in
                var entry = fl_child_setting(
                    namespaces: namespaces.baseAddress, namespace_count: Int32(namespaces.count),
                    groups: groups.baseAddress, group_count: Int32(groups.count),
                    folder: UnsafePointer(folder), leads_group: leadsGroup ? 1 : 0,
                    tells_opens: tellsOpens ? 1 : 0, listener: -1)
                defer { listener = entry.listener }
                return body(&entry)
            }
        }
    }
}
