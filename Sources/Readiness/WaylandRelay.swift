import CSystem
import Glibc
package import ProcessIO
package import ProfileModel

/// A process of our own between the program and its Wayland compositor. It reports the first things
/// to see. It outlives us, so the program's display does not depend on us.
package final class WaylandRelay {
    private let control: Int32
    /// A top-level surface was configured.
    package private(set) var configured: MonotonicTime?
    /// A top-level surface was committed with its first buffer.
    package private(set) var framed: MonotonicTime?
    private var losses = 0

    /// - Parameter setting: changed so that the program connects to the relay.
    package init(to target: WaylandDisplay, setting: inout ProgramSetting) throws(SystemError) {
        var display = fl_display_none()
        var control: Int32 = -1
        do throws(SystemError) {
            // If a connection exists already, a socket without a compositor does not matter.
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

    /// Listens on a socket next to the compositor's, or in `/tmp` if that has no room for one.
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

    /// Tells the relay the process for which it stays.
    package func began(_ pid: Int32) { _ = fl_display_began(control, pid) }

    /// The number of connections, since the last call, whose traffic can no longer be read.
    package func takeLosses() -> Int {
        defer { losses = 0 }
        return losses
    }

    /// Takes the relay's news.
    package func look() { while takeOne() == .something {} }

    /// As ``look()``, after the program's end: its last messages may still be on their way.
    package func lastLook() {
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

    /// How long we may delay a recording's end, in milliseconds.
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
