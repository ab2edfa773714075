import CSystem
import Glibc
package import ProfileModel
import System

/// A process of its own between the program's standard output or error and where they go. It
/// outlives us: the program's output does not depend on ours.
package struct OutputRelay: Sendable {
    private let control: Int32

    /// - Parameters:
    ///   - original: where it passes everything on to.
    ///   - text: what to look for, without line breaks; empty: the first byte.
    ///   - input: what the program must write to.
    init(to original: Int32, for text: String, input: inout Int32) throws(SystemError) {
        var control: Int32 = -1
        let bytes = Array(text.utf8)
        try check(
            fl_relay_start(original, bytes, bytes.count, &input, &control),
            "starting a process for the program's output")
        self.control = control
    }

    /// Wakes the recorder by SIGCHLD when there is news, once; a thread of ours waits for that.
    func announceNews() {
        let copy = fcntl(control, F_DUPFD_CLOEXEC, 16)
        guard copy >= 0 else { return }
        let isBegun = startThread {
            var entry = pollfd(fd: copy, events: Int16(POLLIN), revents: 0)
            while poll(&entry, 1, -1) < 0, errno == EINTR {}
            Glibc.close(copy)
            kill(getpid(), SIGCHLD)
        }
        if !isBegun { Glibc.close(copy) }
    }

    /// Nobody asks it any more; it goes on.
    func close() {
        shutdown(control, Int32(SHUT_RDWR))
        Glibc.close(control)
    }

    enum News {
        case found(MonotonicTime)
        case drained
    }

    /// nil: there is none. Throws at the relay's end.
    func news() throws(SystemError) -> News? {
        var news = fl_relay_news()
        guard try check(fl_relay_news(control, &news), "hearing of the program's output") == 1
        else {
            return nil
        }
        return news.kind == fl_relay_found
            ? .found(MonotonicTime(nanoseconds: news.time)) : .drained
    }

    /// Waits until all that was written so far has been passed on, or `signals` say that we are to
    /// end. A reader that takes its time would have kept the program waiting instead.
    ///
    /// - Returns: what was found meanwhile.
    @discardableResult
    package func drain(_ signals: SignalQueue) -> MonotonicTime? {
        var found: MonotonicTime?
        // One that has ended cannot be asked, but may have told something before.
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
            // Its end: it has passed on everything.
            return found
        }
    }

    /// How often it is looked whether we are to end, in milliseconds.
    private static let patience: Int32 = 50
}
