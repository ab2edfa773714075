import CSystem
import Glibc
package import ProcessIO
package import ProfileModel
import System

/// A process of our own between the program's standard output or error and their destination. It
/// outlives us, so the program's output does not depend on us.
package struct OutputRelay: Sendable {
    private let control: Int32

    /// - Parameters:
    ///   - original: the destination to which it passes everything on.
    ///   - text: the text to look for, without line breaks; empty: the first byte.
    ///   - input: receives the descriptor that the program must write to.
    package init(to original: Int32, for text: String, input: inout Int32) throws(SystemError) {
        var control: Int32 = -1
        let bytes = Array(text.utf8)
        try check(
            fl_relay_start(original, bytes, bytes.count, &input, &control),
            "starting a process for the program's output")
        self.control = control
    }

    /// Wakes the recorder once by SIGCHLD when there is news. One of our threads waits for it.
    package func announceNews() {
        let copy = fcntl(control, F_DUPFD_CLOEXEC, 16)
        guard copy >= 0 else { return }
        let isBegun = startThread {
            var entry = pollfd(fd: copy, events: Int16(POLLIN), revents: 0)
            _ = try? retrying { poll(&entry, 1, -1) }
            Glibc.close(copy)
            kill(getpid(), SIGCHLD)
        }
        if !isBegun { Glibc.close(copy) }
    }

    /// Stops asking for news; the relay goes on.
    package func close() {
        shutdown(control, Int32(SHUT_RDWR))
        Glibc.close(control)
    }

    package enum News {
        case found(MonotonicTime)
        case drained
    }

    /// nil: there is no news. Throws when the relay has ended.
    package func news() throws(SystemError) -> News? {
        var news = fl_relay_news()
        guard try check(fl_relay_news(control, &news), "hearing of the program's output") == 1
        else {
            return nil
        }
        return news.kind == fl_relay_found
            ? .found(MonotonicTime(nanoseconds: news.time)) : .drained
    }

    /// Waits until all output so far has been passed on, or `signals` ask us to end. Without the
    /// relay, a slow reader would have delayed the program instead.
    ///
    /// - Returns: the time of the match, if one was found in the meantime.
    @discardableResult
    package func drain(_ signals: SignalQueue) -> MonotonicTime? {
        var found: MonotonicTime?
        // A relay that has ended cannot answer, but may have reported something before.
        _ = fl_relay_ask(control)
        do throws(SystemError) {
            while true {
                switch try news() {
                case .found(let time)?: found = found ?? time
                case .drained?: return found
                case nil:
                    if SignalQueue.isToEnd { return found }
                    var entry = pollfd(fd: control, events: Int16(POLLIN), revents: 0)
                    poll(&entry, 1, Self.patience)
                }
            }
        } catch {
            // The relay has ended, so it has passed on everything.
            return found
        }
    }

    /// How often we check for a request to end, in milliseconds.
    private static let patience: Int32 = 50
}
