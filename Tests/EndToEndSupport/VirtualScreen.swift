import Foundation
import TestSupport

/// An X server without a screen; it ends with this object.
package final class VirtualScreen {
    /// What DISPLAY must be.
    package let display: String
    private let server: Child

    package init(_ options: [String] = []) throws {
        let number = try Channel()
        // It chooses a free display, and names it as soon as it is ready.
        var command = Command(
            ["Xvfb", "-displayfd", "3", "-nolisten", "tcp", "-noreset"] + options)
        command.inherited = [number.writer]
        server = try command.start()
        number.closeWriter()
        display = ":" + (try number.line() ?? "")
    }
}

/// A Wayland compositor without a screen; it ends with this object.
package final class VirtualCompositor {
    /// What a client needs in its environment.
    package let variables: [String: String]
    /// The folder of its socket, and of a relay's.
    package let folder: Scratch
    private let server: Child

    package init() throws {
        folder = try Scratch()
        let runtime = ["XDG_RUNTIME_DIR": folder.folder]
        variables = runtime.merging(["WAYLAND_DISPLAY": "wayland-test"]) { $1 }
        server = try Command(
            ["weston", "--backend=headless-backend.so", "--no-config", "--idle-time=0"]
                + ["--socket=wayland-test", "--log=\(folder("log"))"],
            adding: runtime
        ).start()
        let socket = folder("wayland-test")
        // Until it listens.
        try Proc.waitUntil("weston's socket") { access(socket, F_OK) == 0 }
    }
}
