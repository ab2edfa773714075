package import CSystem
import Glibc
package import ProfileModel

extension ChildSetting {
    /// False if a child has nothing to enter before it executes its program.
    private var needsEntering: Bool {
        !namespaces.isEmpty || !controlGroups.isEmpty || leadsGroup || tellsOpens
    }

    /// The settings in the form for ``fl_fork_held``, valid within `body`; nil: there is nothing to
    /// enter.
    ///
    /// - Parameter listener: receives the descriptor that reports opened files; -1: there is none.
    package func withEntry<Value>(
        listener: inout Int32, _ body: (UnsafeMutablePointer<fl_child_setting>?) -> Value
    ) -> Value {
        guard needsEntering else { return body(nil) }
        // A folder without a path is left: in a mount namespace the program has no such folder.
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
