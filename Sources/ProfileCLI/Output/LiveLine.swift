import Exports
import Glibc
import Report
import Synchronization

/// One line on a terminal that is rewritten in place, and wiped before any other output there.
/// Without a terminal, or on a `dumb` one, nothing is ever written.
package final class LiveLine: Sendable {
    private struct State {
        /// nil: there is no terminal, or this is not known yet.
        var terminal: Int32?
        var isOpened = false
        var isShown = false
    }

    package let stream: Int32
    private let isDumb: Bool
    private let state = Mutex(State())

    package init(on stream: Int32, isDumb: Bool) {
        self.stream = stream
        self.isDumb = isDumb
    }

    package convenience init(on stream: Int32) {
        self.init(
            on: stream, isDumb: getenv("TERM").map { String(cString: $0) == "dumb" } ?? false)
    }

    deinit {
        if let terminal = state.withLock({ $0.terminal }) { close(terminal) }
    }

    /// True if the line can be seen at all.
    package var isVisible: Bool { state.withLock { terminal(&$0) } != nil }

    /// Replaces the line by `text`, cut to the terminal's width. If the terminal accepts nothing
    /// (Ctrl-S), we do not wait.
    package func show(_ text: String) {
        state.withLock { state in
            guard let terminal = terminal(&state) else { return }
            // A character in the last column may cause a line break.
            let width = (Terminal.columns(of: terminal) ?? 80) - 1
            state.isShown = true
            Self.write("\r\(Console.oneLine(text).shortened(to: width))\u{1b}[K", to: terminal)
        }
    }

    package func wipe() {
        state.withLock { state in
            guard state.isShown, let terminal = state.terminal else { return }
            state.isShown = false
            Self.write("\r\u{1b}[K", to: terminal)
        }
    }

    /// Opens the terminal again, so that non-blocking mode affects only us, not the program, which
    /// shares the stream.
    private func terminal(_ state: inout State) -> Int32? {
        guard !state.isOpened else { return state.terminal }
        state.isOpened = true
        guard isatty(stream) == 1, !isDumb else { return nil }
        let descriptor = open(
            "/proc/self/fd/\(stream)", O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        state.terminal = descriptor >= 0 ? descriptor : nil
        return state.terminal
    }

    private static func write(_ text: String, to terminal: Int32) {
        _ = Glibc.write(terminal, text, text.utf8.count)
    }
}
