package import CXCB
import Glibc
import ProcessIO
import ProfileModel
import Synchronization
import System

/// A connection to the X server that DISPLAY names. Used by one thread at a time.
///
/// Unsafe code: XCB's replies and events are memory that is ours to free.
package final class XConnection: @unchecked Sendable {
    package let connection: OpaquePointer
    /// Its functions.
    package let xcb: cxcb_library
    /// The root windows, one for each screen.
    package let roots: [xcb_window_t]
    /// True if the server knows which process owns a window.
    private let knowsClients: Bool
    /// The extension by which the server reports drawing.
    package let drawing: DrawingExtension

    /// How long the server may take to answer.
    private static let patience = TimeSpan.milliseconds(10_000)

    private enum Attempt {
        case underWay
        case connected(XConnection)
        case failed
    }

    /// A server may accept the connection and never answer. XCB would wait for ever, so a thread of
    /// its own waits for XCB. Meanwhile a request for our end is still served.
    package static func open(_ name: String) throws(DisplayProblem) -> XConnection {
        guard let library = cxcb_load() else {
            throw DisplayProblem(
                reason: "no connection to the X server '\(name)': libxcb.so.1 cannot be loaded")
        }
        let attempt = AttemptResult()
        let xcb = library.pointee
        guard startThread({ attempt.end(with: XConnection(name, xcb)) }) else {
            let error = SystemError(starting: "a thread for the X server", code: EAGAIN)
            throw DisplayProblem(reason: error.description)
        }
        let deadline = MonotonicTime.now + patience
        while true {
            switch attempt.state.withLock({ $0 }) {
            case .connected(let connection): return connection
            case .failed:
                throw DisplayProblem(reason: "no connection to the X server '\(name)'")
            case .underWay: break
            }
            guard !SignalQueue.isToEnd, MonotonicTime.now < deadline else { break }
            usleep(500)
        }
        throw DisplayProblem(reason: "the X server '\(name)' does not answer")
    }

    private final class AttemptResult: Sendable {
        let state = Mutex(Attempt.underWay)

        func end(with connection: XConnection?) {
            state.withLock { $0 = connection.map { .connected($0) } ?? .failed }
        }
    }

    /// Waits for the server's answers. nil: there is no server.
    private init?(_ name: String, _ xcb: cxcb_library) {
        guard let connection = xcb.connect(name, nil) else { return nil }
        guard xcb.connection_has_error(connection) == 0 else {
            xcb.disconnect(connection)
            return nil
        }
        self.connection = connection
        self.xcb = xcb
        var roots: [xcb_window_t] = []
        var screens = xcb.setup_roots_iterator(xcb.get_setup(connection))
        while screens.rem > 0, let screen = screens.data {
            roots.append(screen.pointee.root)
            xcb.screen_next(&screens)
        }
        self.roots = roots
        cxcb_prefetch_extensions(connection)
        knowsClients = cxcb_resources_begin(connection) != 0
        drawing = DrawingExtension(connection)
        for root in roots { select(XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY, of: root) }
        waitUntilDone()
        guard xcb.connection_has_error(connection) == 0 else { return nil }
    }

    /// Waits until the server has done all earlier requests.
    package func waitUntilDone() {
        free(xcb.get_input_focus_reply(connection, xcb.get_input_focus(connection), nil))
    }

    /// Selects the events that we want for a window, without affecting other clients.
    package func select(_ mask: xcb_event_mask_t..., of window: xcb_window_t) {
        var value = mask.reduce(0) { $0 | UInt32($1.rawValue) }
        _ = xcb.change_window_attributes(
            connection, window, UInt32(XCB_CW_EVENT_MASK.rawValue), &value)
        _ = xcb.flush(connection)
    }

    deinit { xcb.disconnect(connection) }

    /// Ends the connection: the server forgets its pending reports, and we need not read them.
    package func hangUp() { shutdown(xcb.get_file_descriptor(connection), Int32(SHUT_RDWR)) }

    package enum Event: Equatable {
        case created(xcb_window_t, parent: xcb_window_t)
        case mapped(xcb_window_t)
        /// The window has lost its content; the server has painted its background, if it has one.
        case exposed(xcb_window_t)
        /// Something was drawn into the window or its subwindows. `sequence` is the last of our
        /// requests that the server had handled then.
        case drawn(xcb_window_t, sequence: UInt16)
        case other
    }

    /// Waits for the next; nil: the connection is gone.
    package func next() -> Event? { take(xcb.wait_for_event(connection)) }

    /// An event that has been read already; nil: there is none.
    package func nextQueued() -> Event? { take(xcb.poll_for_queued_event(connection)) }

    private func take(_ event: UnsafeMutablePointer<xcb_generic_event_t>?) -> Event? {
        guard let event else { return nil }
        defer { free(event) }
        if let event = drawing.event(event) { return event }
        switch Int32(event.pointee.response_type & 0x7f) {
        case XCB_CREATE_NOTIFY:
            return event.withMemoryRebound(to: xcb_create_notify_event_t.self, capacity: 1) {
                .created($0.pointee.window, parent: $0.pointee.parent)
            }
        case XCB_MAP_NOTIFY:
            return event.withMemoryRebound(to: xcb_map_notify_event_t.self, capacity: 1) {
                .mapped($0.pointee.window)
            }
        case XCB_EXPOSE:
            return event.withMemoryRebound(to: xcb_expose_event_t.self, capacity: 1) {
                .exposed($0.pointee.window)
            }
        default: return .other
        }
    }

    /// True if a window is mapped and can show something; nil: it is gone.
    package func isMapped(_ window: xcb_window_t) -> Bool? {
        guard
            let reply = xcb.get_window_attributes_reply(
                connection, xcb.get_window_attributes(connection, window), nil)
        else { return nil }
        defer { free(reply) }
        return UInt32(reply.pointee.map_state) != XCB_MAP_STATE_UNMAPPED.rawValue
            && UInt32(reply.pointee._class) != XCB_WINDOW_CLASS_INPUT_ONLY.rawValue
    }

    /// In no particular order.
    package func children(of window: xcb_window_t) -> [xcb_window_t] {
        guard
            let reply = xcb.query_tree_reply(connection, xcb.query_tree(connection, window), nil)
        else { return [] }
        defer { free(reply) }
        guard let first = xcb.query_tree_children(reply) else { return [] }
        // A server may claim anything. The reply's own length, in words, limits it.
        let count = min(Int(xcb.query_tree_children_length(reply)), Int(reply.pointee.length))
        return Array(UnsafeBufferPointer(start: first, count: count))
    }

    /// The process that owns a window, as the server knows it, or else as the client claims.
    package func process(of window: xcb_window_t) -> Int32? {
        serversWord(on: window) ?? ownWord(of: window)
    }

    /// X-Resource 1.2: the process at the other end of the client's local connection.
    private func serversWord(on window: xcb_window_t) -> Int32? {
        guard knowsClients else { return nil }
        guard let reply = cxcb_resources_local_process(connection, window) else { return nil }
        defer { free(reply) }
        let words = UnsafeRawBufferPointer(
            start: UnsafeRawPointer(reply) + MemoryLayout<cxcb_client_ids>.size,
            count: 4 * Int(reply.pointee.length))
        return Self.firstProcess(inClientIDs: words)
    }

    /// Each of X-Resource's CLIENTIDVALUEs is a client, a mask, a length in bytes, and as many bytes.
    package static func firstProcess(inClientIDs bytes: UnsafeRawBufferPointer) -> Int32? {
        var start = 0
        func word(_ index: Int) -> UInt32? {
            let offset = start + 4 * index
            guard offset + 4 <= bytes.count else { return nil }
            return bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        }
        while let length = word(2) {
            if length >= 4 { return word(3).flatMap { Int32(exactly: $0) } }
            start += 12
        }
        return nil
    }

    /// `_NET_WM_PID` (Extended Window Manager Hints).
    private func ownWord(of window: xcb_window_t) -> Int32? {
        let name = "_NET_WM_PID"
        guard
            let atom = xcb.intern_atom_reply(
                connection, xcb.intern_atom(connection, 1, UInt16(name.utf8.count), name), nil)
        else { return nil }
        defer { free(atom) }
        let request = xcb.get_property(
            connection, 0, window, atom.pointee.atom, XCB_ATOM_CARDINAL.rawValue, 0, 1)
        guard let reply = xcb.get_property_reply(connection, request, nil) else { return nil }
        defer { free(reply) }
        guard xcb.get_property_value_length(reply) >= 4, reply.pointee.length >= 1,
            let value = xcb.get_property_value(reply)
        else { return nil }
        return Int32(exactly: value.loadUnaligned(as: UInt32.self))
    }
}
