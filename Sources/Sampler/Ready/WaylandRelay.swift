import CSystem
import Glibc
import ProfileModel

/// A process of its own between the program and its Wayland compositor, which tells when there is
/// something to see. It outlives us: the program's display does not depend on ours.
final class WaylandRelay {
    private let control: Int32
    /// A top-level surface was configured.
    private(set) var configured: MonotonicTime?
    /// A top-level surface was committed with its first buffer.
    private(set) var framed: MonotonicTime?
    private var losses = 0

    /// - Parameter setting: leads the program to the relay.
    init(to target: WaylandDisplay, setting: inout ProgramSetting) throws(SystemError) {
        var display = fl_display_none()
        var control: Int32 = -1
        do throws(SystemError) {
            // Beside a connection that is there already, a socket without a compositor is no matter.
            if let path = target.path, target.inherited == nil || fl_display_try(path) == 0 {
                try Self.listen(target, path, &display, &setting)
            }
            if let number = target.inherited {
                try check(
                    fl_display_take_over(number, &display), "taking over WAYLAND_SOCKET")
                setting.handOn(number)
            }
            try check(
                fl_display_start(&display, &control), "starting a process for the display")
        } catch {
            fl_display_abandon(&display)
            throw error
        }
        self.control = control
    }

    /// On a socket beside the compositor's, or, where there is no room for one, in `/tmp`.
    private static func listen(
        _ target: WaylandDisplay, _ path: String, _ display: inout fl_display,
        _ setting: inout ProgramSetting
    ) throws(SystemError) {
        try check(fl_display_name(path, &display), "connecting to '\(path)'")
        if fl_display_listen(target.folder, &display) != 0 {
            try check(fl_display_listen("/tmp", &display), "making a socket for the display")
        }
        setting.variables["WAYLAND_DISPLAY"] = withUnsafeBytes(of: display.own) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    deinit { close(control) }

    /// The process that it stays for.
    func began(_ pid: Int32) { _ = fl_display_began(control, pid) }

    /// Of how many connections, since the last time, what passes cannot be read any further.
    func takeLosses() -> Int {
        defer { losses = 0 }
        return losses
    }

    /// Takes what it has told.
    func look() { while takeOne() == .something {} }

    /// The same when the program has ended: what it said last may be on its way.
    func lastLook() {
        guard framed == nil, fl_relay_ask(control) == 0 else { return look() }
        for _ in 0..<Self.patience {
            switch takeOne() {
            case .something: break
            case .end: return
            case .nothing:
                if SignalQueue.isToEnd { return }
                var entry = pollfd(fd: control, events: Int16(POLLIN), revents: 0)
                poll(&entry, 1, 1)
            }
        }
    }

    /// What the end of a recording may be held up, in milliseconds.
    private static let patience = 100

    private enum News {
        case something, nothing, end
    }

    private func takeOne() -> News {
        var news = fl_relay_news()
        switch fl_relay_news(control, &news) {
        case 1: break
        case 0: return .nothing
        default: return .end
        }
        let time = MonotonicTime(nanoseconds: news.time)
        switch Int(news.kind) {
        case fl_display_configured: configured = configured ?? time
        case fl_display_framed: framed = framed ?? time
        case fl_display_lost: losses += 1
        default: return .end
        }
        return .something
    }
}
