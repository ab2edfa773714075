import CXCB
import ProcessIO
import ProfileModel
import System

/// Waits for the first window of a process to be mapped.
///
/// Window managers put windows into frames of their own before mapping them, so the root window
/// reports only the frame. So we ask for the events of each new window of the process.
package struct WindowWatch {
    private let connection: XConnection
    private let moment: AwaitedMoment
    private var own: Set<xcb_window_t> = []

    package init(_ connection: XConnection, _ moment: AwaitedMoment) {
        self.connection = connection
        self.moment = moment
    }

    /// Runs until the window has come, or the server is gone.
    package mutating func run() {
        while moment.time == nil, let event = connection.next() {
            let now = MonotonicTime.now
            switch event {
            case .created(let window, let parent) where connection.roots.contains(parent):
                watch(window, at: now)
            case .mapped(let window) where own.contains(window):
                if connection.isMapped(window) == true { moment.came(at: now) }
            case .created, .mapped, .exposed, .drawn, .other: break
            }
        }
        connection.hangUp()
    }

    /// Looks at the existing windows: a few levels below the root, inside frames.
    package mutating func lookAtAll() {
        for root in connection.roots { lookBelow(root, levels: 3) }
    }

    private mutating func lookBelow(_ window: xcb_window_t, levels: Int) {
        guard levels > 0, moment.time == nil else { return }
        for child in connection.children(of: window) {
            watch(child, at: .now)
            lookBelow(child, levels: levels - 1)
        }
    }

    private mutating func watch(_ window: xcb_window_t, at now: MonotonicTime) {
        guard let pid = moment.pid, let client = connection.process(of: window),
            Ancestry.isWithin(client, pid) == true
        else { return }
        own.insert(window)
        connection.select(XCB_EVENT_MASK_STRUCTURE_NOTIFY, of: window)
        // The window may have been mapped before we could ask.
        if connection.isMapped(window) == true { moment.came(at: now) }
    }
}
