package import ProfileModel

/// An event that ends a launch, as `--until` names it.
package enum ReadyCondition: Hashable, Sendable {
    /// The program's end: the launch lasts as long as the program.
    case exit
    /// `READY=1`, sent to NOTIFY_SOCKET as by sd_notify(3).
    case notify
    /// A stream socket on which the process accepts connections: at this TCP port, or any of TCP or
    /// the Unix domain.
    case listen(port: UInt16?)
    /// The first byte, or the first line with the text, on standard output or error.
    case output(text: String?)
    /// The first top-level window: on X11 it is mapped, on Wayland configured.
    case window
    /// The first picture in a top-level window. On X11 something is drawn into the window; on
    /// Wayland it is committed with a buffer.
    case frame
    /// No thread has had anything to do for this long.
    case idle(TimeSpan)
    /// A signpost (an event, or an interval's end) of this name.
    case signpost(String)
    /// A mark (`--mark NAME=…`) of this name.
    case mark(String)

    /// True if the condition can be watched in a process that runs already. It is too late if the
    /// condition needs another environment or other descriptors. (So it is for `window` and `frame`
    /// on Wayland, but not on X11.)
    package var suitsRunningProcess: Bool {
        switch self {
        case .notify, .output: false
        case .exit, .listen, .window, .frame, .idle, .signpost, .mark: true
        }
    }
}

extension ReadyCondition: CustomStringConvertible {
    /// In the words of `--until`.
    package var description: String {
        switch self {
        case .exit: "exit"
        case .notify: "notify"
        case .listen(let port): "listen" + (port.map { ":\($0)" } ?? "")
        case .output(let text): "output" + (text.map { ":\($0)" } ?? "")
        case .window: "window"
        case .frame: "frame"
        case .idle(let span): "idle:" + Self.words(span)
        case .signpost(let name): "signpost:\(name)"
        case .mark(let name): "mark:\(name)"
        }
    }

    /// In the largest unit that leaves a whole number.
    private static func words(_ span: TimeSpan) -> String {
        let units: [(Int64, String)] = [
            (60_000_000_000, "m"), (1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"),
        ]
        let unit = units.first { span.nanoseconds.isMultiple(of: $0.0) } ?? (1, "ns")
        return "\(span.nanoseconds / unit.0)\(unit.1)"
    }
}
