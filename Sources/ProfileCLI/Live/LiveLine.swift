import Glibc
import Report
import Synchronization

/// One line on a terminal that is written anew in its place, and wiped before anything else is
/// printed there. Where there is no terminal, or a `dumb` one, nothing is ever written.
package final class LiveLine: Sendable {
    private struct State {
        /// nil: there is no terminal, or that is not known yet.
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

    /// Whether it can be seen at all.
    package var isVisible: Bool { state.withLock { terminal(&$0) } != nil }

    /// Puts `text` in the place of the one before, cut to the terminal's width. A terminal that
    /// takes nothing (Ctrl-S) is not waited for.
    package func show(_ text: String) {
        state.withLock { state in
            guard let terminal = terminal(&state) else { return }
            // Whoever writes into the last column may get a line break.
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

    /// Opened anew: not to wait is asked for our own use of it, not for that of the program, which
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
