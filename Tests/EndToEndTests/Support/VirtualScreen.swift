import Foundation

/// An X server without a screen; ended in the end.
final class VirtualScreen {
    /// What DISPLAY must be.
    let display: String
    private let server: Child

    init(_ options: [String] = []) throws {
        let number = try Channel()
        // It chooses a free display, and says which as soon as it can be used.
        var command = Command(
            ["Xvfb", "-displayfd", "3", "-nolisten", "tcp", "-noreset"] + options)
        command.inherited = [number.writer]
        server = try command.start()
        number.closeWriter()
        display = ":" + (try number.line() ?? "")
    }
}

/// A Wayland compositor without a screen; ended in the end.
final class VirtualCompositor {
    /// What a client's environment must have.
    let variables: [String: String]
    /// Where its socket is, and a relay's.
    let folder: Scratch
    private let server: Child

    init() throws {
        folder = try Scratch()
        let runtime = ["XDG_RUNTIME_DIR": folder.path]
        variables = runtime.merging(["WAYLAND_DISPLAY": "wayland-test"]) { $1 }
        server = try Command(
            ["weston", "--backend=headless-backend.so", "--no-config", "--idle-time=0"]
                + ["--socket=wayland-test", "--log=\(folder("log"))"],
            adding: runtime
        ).start()
        let socket = folder("wayland-test")
        // As soon as it listens.
        try Proc.waitUntil("weston's socket") { access(socket, F_OK) == 0 }
    }
}
