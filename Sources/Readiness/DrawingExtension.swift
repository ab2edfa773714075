package import CXCB
import Glibc

/// The extension by which an X server reports drawing: Damage, or, where it is missing, Present,
/// which reports only whole pictures (OpenGL, Vulkan).
///
/// Unsafe code: XCB's events are cast to the types that their numbers mean.
package enum DrawingExtension: Equatable {
    case damage(event: UInt8)
    case present(opcode: UInt8)
    case none

    package init(_ connection: OpaquePointer) {
        let event = cxcb_damage_event(connection)
        let opcode = cxcb_present_opcode(connection)
        if event > 0 {
            cxcb_damage_begin(connection)
            self = .damage(event: UInt8(truncatingIfNeeded: event))
        } else if opcode > 0 {
            self = .present(opcode: UInt8(truncatingIfNeeded: opcode))
        } else {
            self = .none
        }
    }

    /// nil: the event is not about drawing.
    package func event(_ event: UnsafeMutablePointer<xcb_generic_event_t>) -> XConnection.Event? {
        let number = event.pointee.response_type & 0x7f
        switch self {
        case .damage(event: number):
            return event.withMemoryRebound(to: cxcb_damage.self, capacity: 1) {
                .drawn($0.pointee.drawable, sequence: $0.pointee.sequence)
            }
        case .present(let opcode) where Int32(number) == XCB_GE_GENERIC:
            return event.withMemoryRebound(to: cxcb_presented.self, capacity: 1) {
                Self.presented($0.pointee, by: opcode)
            }
        case .damage, .present, .none: return nil
        }
    }

    private static func presented(_ event: cxcb_presented, by opcode: UInt8) -> XConnection.Event? {
        guard event.extension == opcode, Int(event.event_type) == cxcb_present_complete,
            Int(event.kind) == cxcb_present_pixmap
        else { return nil }
        return .drawn(event.window, sequence: event.sequence)
    }
}

extension XConnection {
    /// A report of drawing that the server makes for us about one window; it must be ended.
    package struct DrawingReport {
        package let id: UInt32
        /// The number of our request.
        package let sequence: UInt16
        /// The window's attributes at the time of the request.
        fileprivate let attributes: xcb_get_window_attributes_cookie_t
    }

    /// From now on, the server reports all drawing into a window and its subwindows. It may also
    /// report existing content, with this request's number.
    package func reportDrawing(into window: xcb_window_t) -> DrawingReport? {
        let id = xcb.generate_id(connection)
        let sequence: UInt32
        switch drawing {
        case .damage: sequence = cxcb_damage_create(connection, id, window)
        case .present: sequence = cxcb_present_select(connection, id, window, 1)
        case .none: return nil
        }
        return DrawingReport(
            id: id, sequence: UInt16(truncatingIfNeeded: sequence),
            attributes: xcb.get_window_attributes(connection, window))
    }

    /// True if the window was visible before the server began to report drawing into it. Ask only
    /// once.
    package func wasViewable(_ report: DrawingReport) -> Bool {
        let reply = xcb.get_window_attributes_reply(connection, report.attributes, nil)
        defer { free(reply) }
        return reply.map { UInt32($0.pointee.map_state) == XCB_MAP_STATE_VIEWABLE.rawValue }
            ?? false
    }

    /// Call this instead of ``wasViewable(_:)``.
    package func end(_ report: DrawingReport, of window: xcb_window_t) {
        xcb.discard_reply(connection, report.attributes.sequence)
        switch drawing {
        case .damage: cxcb_damage_destroy(connection, report.id)
        case .present: _ = cxcb_present_select(connection, report.id, window, 0)
        case .none: break
        }
        _ = xcb.flush(connection)
    }

    /// True if a window shows more than one colour: then something was drawn into it. Looks at some
    /// of its rows. A picture as background counts, too.
    package func showsSomething(_ window: xcb_window_t) -> Bool {
        guard let area = visibleArea(of: window) else { return false }
        let rows = min(area.height, 64)
        let requests = (0..<rows).map { row in
            xcb.get_image(
                connection, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), window, area.x,
                area.y + Int16(row * area.height / rows), UInt16(area.width), 1, ~0)
        }
        var first: UInt32?
        var isDrawn = false
        for request in requests {
            guard let reply = xcb.get_image_reply(connection, request, nil) else { continue }
            defer { free(reply) }
            let count = min(Int(reply.pointee.length) * 4, Int(xcb.get_image_data_length(reply)))
            // Pixels of 32 bits, as all of today's screens have; we cannot judge others.
            guard reply.pointee.depth >= 24, let data = xcb.get_image_data(reply) else { continue }
            for offset in stride(from: 0, to: min(count, 4 * area.width) - 3, by: 4) {
                let pixel = UnsafeRawPointer(data).loadUnaligned(
                    fromByteOffset: offset, as: UInt32.self)
                isDrawn = isDrawn || pixel & 0xFF_FFFF != first ?? pixel & 0xFF_FFFF
                first = pixel & 0xFF_FFFF
            }
        }
        return isDrawn
    }

    /// The part of a window that is on the screen, relative to its corner; nil: none.
    private func visibleArea(
        of window: xcb_window_t
    ) -> (x: Int16, y: Int16, width: Int, height: Int)? {
        let sizes = xcb.get_geometry(connection, window)
        guard let size = xcb.get_geometry_reply(connection, sizes, nil) else { return nil }
        defer { free(size) }
        let root = size.pointee.root
        let places = xcb.translate_coordinates(connection, window, root, 0, 0)
        let screens = xcb.get_geometry(connection, root)
        let place = xcb.translate_coordinates_reply(connection, places, nil)
        let screen = xcb.get_geometry_reply(connection, screens, nil)
        defer {
            free(place)
            free(screen)
        }
        guard let place, let screen else { return nil }
        func visible(_ start: Int16, _ length: UInt16, _ limit: UInt16) -> Range<Int>? {
            let first = max(0, -Int(start))
            let end = min(Int(length), Int(limit) - Int(start), Int(Int16.max))
            return first < end ? first..<end : nil
        }
        guard
            let across = visible(
                place.pointee.dst_x, size.pointee.width, screen.pointee.width),
            let down = visible(
                place.pointee.dst_y, size.pointee.height, screen.pointee.height),
            let x = Int16(exactly: across.lowerBound), let y = Int16(exactly: down.lowerBound)
        else { return nil }
        return (x, y, across.count, down.count)
    }
}
