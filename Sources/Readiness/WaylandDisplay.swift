import CSystem
import Glibc
package import ProcessIO

/// Where a program finds its Wayland compositor. As in libwayland-client: a connection that the
/// program inherits (WAYLAND_SOCKET), else a socket (WAYLAND_DISPLAY).
package struct WaylandDisplay {
    /// The number of the inherited descriptor.
    package let inherited: Int32?
    /// The socket's path.
    package let path: String?
    /// The folder for our own socket.
    package let folder: String

    /// - Returns: nil: the environment names no compositor. (libwayland-client would still try
    ///   `wayland-0`, but most programs do not try Wayland then.)
    package init?(_ environment: (String) -> String? = WaylandDisplay.variable) throws(SystemError)
    {
        let folder = environment("XDG_RUNTIME_DIR")
        self.folder = folder ?? "/tmp"
        if let text = environment("WAYLAND_SOCKET") {
            guard let number = Int32(text), number > 2, fcntl(number, F_GETFD) != -1 else {
                throw SystemError("using WAYLAND_SOCKET (\(text))", code: EBADF)
            }
            inherited = number
        } else {
            inherited = nil
        }
        if let name = environment("WAYLAND_DISPLAY") {
            if !name.hasPrefix("/"), folder == nil {
                throw SystemError("looking for '\(name)' without XDG_RUNTIME_DIR", code: ENOENT)
            }
            path = name.hasPrefix("/") ? name : "\(folder ?? "")/\(name)"
        } else {
            path = nil
        }
        if inherited == nil, path == nil { return nil }
    }

    /// Throws unless a compositor listens there.
    package func reach() throws(SystemError) {
        guard inherited == nil, let path else { return }
        try check(fl_display_try(path), "connecting to '\(path)'")
    }

    /// nil if the variable is missing or empty.
    package static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
