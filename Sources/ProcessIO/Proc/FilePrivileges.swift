import CSystem
import Glibc

/// The privileges that a program's file gives beyond its user's own.
package enum FilePrivileges {
    /// True if a file gives privileges to its user that we do not have.
    package static func areGained(by path: UnsafePointer<CChar>) -> Bool {
        var status = stat()
        guard geteuid() != 0, stat(path, &status) == 0 else { return false }
        let gainsUser = status.st_mode & 0o4000 != 0 && status.st_uid != geteuid()
        let gainsGroup = status.st_mode & 0o2010 == 0o2010 && status.st_gid != getegid()
        return gainsUser || gainsGroup || fl_has_file_capabilities(path) != 0
    }
}
