package import CXCB
import ProcessIO
package import ProfileModel
import System

/// Waits for the first drawing into a top-level window of a process.
///
/// The server itself paints the background of a window that becomes visible, and Damage reports
/// this like any drawing. But the server does so in one step, and ends the step with an event that
/// tells the window what to draw (Expose). So drawing right before an Expose is the server's.
/// Drawing that no Expose follows in the same step is the program's.
package struct DrawingWatch {
    private let connection: XConnection
    private let moment: AwaitedMoment
    /// The program's windows below the root or a window manager's frame, with our requests'
    /// numbers.
    private var own: [xcb_window_t: UInt16] = [:]
    /// These windows and their subwindows.
    private var family: Set<xcb_window_t> = []
    /// Events that were read but not examined.
    private var backlog: ArraySlice<Timed> = []

    /// At most this many windows are watched for their backgrounds.
    private static let mostWindows = 1_000

    package init(_ connection: XConnection, _ moment: AwaitedMoment) {
        self.connection = connection
        self.moment = moment
    }

    /// Runs until something was drawn, or the server is gone.
    package mutating func run() {
        while moment.time == nil, let (event, time) = next() {
            switch event {
            case .created(let window, let parent) where connection.roots.contains(parent):
                watch(window)
            case .created(let window, let parent) where family.contains(parent): adopt(window)
            case .drawn(let window, let sequence) where isDrawing(window, sequence):
                if !dropBackground() { moment.came(at: time) }
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
            watch(child)
            if own[child] == nil { lookBelow(child, levels: levels - 1) }
        }
    }

    private mutating func next() -> Timed? {
        if let first = backlog.popFirst() { return first }
        return connection.next().map { ($0, .now) }
    }

    /// First asks for reports of drawing, and only then who owns the window: the program may draw
    /// at once.
    private mutating func watch(_ window: xcb_window_t) {
        guard own[window] == nil, let report = connection.reportDrawing(into: window) else {
            return
        }
        connection.select(
            XCB_EVENT_MASK_STRUCTURE_NOTIFY, XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY,
            XCB_EVENT_MASK_EXPOSURE, of: window)
        guard let pid = moment.pid, let client = connection.process(of: window),
            Ancestry.isWithin(client, pid) == true
        else {
            connection.end(report, of: window)
            connection.select(XCB_EVENT_MASK_NO_EVENT, of: window)
            return
        }
        own[window] = report.sequence
        adopt(window)
        // The window existed before we could ask, so earlier drawing was not reported.
        if connection.wasViewable(report), connection.showsSomething(window) {
            moment.came(at: .now)
        }
    }

    /// Watches a window of the program and its existing subwindows.
    private mutating func adopt(_ window: xcb_window_t) {
        guard family.count < Self.mostWindows, family.insert(window).inserted else { return }
        if own[window] == nil {
            connection.select(
                XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY, XCB_EVENT_MASK_EXPOSURE, of: window)
        }
        for child in connection.children(of: window) { adopt(child) }
    }

    /// True if something was drawn. The server reports once the content that existed when we began
    /// to ask; that does not count.
    private func isDrawing(_ window: xcb_window_t, _ sequence: UInt16) -> Bool {
        own[window].map { $0 != sequence } ?? false
    }

    /// True if the last reported drawing was the server's background. All events of the same step
    /// have arrived once the server has answered.
    private mutating func dropBackground() -> Bool {
        connection.waitUntilDone()
        while let event = connection.nextQueued() { backlog.append((event, .now)) }
        guard let rest = Self.rest(of: backlog, own: own.keys, family: family) else { return false }
        backlog = rest
        return true
    }

    package typealias Timed = (event: XConnection.Event, time: MonotonicTime)

    /// The events that are left if the last drawing was a background: later events of the same step
    /// show this. Then the drawings up to the first Expose belong to it as well.
    ///
    /// - Returns: nil: the drawing was no background.
    package static func rest(
        of events: ArraySlice<Timed>, own: some Collection<xcb_window_t>,
        family: Set<xcb_window_t>
    ) -> ArraySlice<Timed>? {
        let expose = events.firstIndex {
            if case .exposed(let window) = $0.event { family.contains(window) } else { false }
        }
        guard let expose else { return nil }
        let others = events[...expose].filter {
            if case .drawn(let window, _) = $0.event { !own.contains(window) } else { true }
        }
        return ArraySlice(others + events[(expose + 1)...])
    }
}
