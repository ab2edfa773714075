import CSystem

/// Messages of Wayland's wire, as a client or a compositor writes them.
struct WireText {
    private(set) var bytes: [UInt8] = []

    private mutating func word(_ value: UInt32) {
        withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
    }

    /// - Parameter size: as the header has it; nil: the true one.
    mutating func message(
        _ object: UInt32, _ opcode: UInt32, _ arguments: [UInt32] = [], size: UInt32? = nil
    ) {
        word(object)
        word((size ?? UInt32(8 + 4 * arguments.count)) << 16 | opcode)
        for argument in arguments { word(argument) }
    }

    /// wl_registry.bind.
    mutating func bind(registry: UInt32, _ interface: String, as id: UInt32) {
        var text = Array(interface.utf8) + [0]
        let length = UInt32(text.count)
        while !text.count.isMultiple(of: 4) { text.append(0) }
        let words = stride(from: 0, to: text.count, by: 4).map { start in
            text.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: UInt32.self) }
        }
        message(registry, 0, [1, length] + words + [4, id])
    }

    /// A client of the registry 2, compositor 3 and shell 4, up to surface 5 with the shell's surface 6
    /// and the toplevel 7.
    static func toplevel() -> WireText {
        var text = WireText()
        text.message(1, 1, [2])
        text.bind(registry: 2, "wl_compositor", as: 3)
        text.bind(registry: 2, "wl_shm", as: 8)
        text.bind(registry: 2, "xdg_wm_base", as: 4)
        text.message(3, 0, [5])
        text.message(4, 2, [6, 5])
        text.message(6, 1, [7])
        return text
    }

    mutating func attach(_ buffer: UInt32, to surface: UInt32 = 5) {
        message(surface, 1, [buffer, 0, 0])
    }

    mutating func commit(_ surface: UInt32 = 5) { message(surface, 6) }
}

/// What a connection's reader makes of it.
final class WireReader {
    struct News: OptionSet, CustomStringConvertible {
        let rawValue: Int32
        static let configured = News(rawValue: Int32(fl_wayland_configured))
        static let framed = News(rawValue: Int32(fl_wayland_framed))
        static let lost = News(rawValue: Int32(fl_wayland_lost))
        var description: String {
            [(News.configured, "configured"), (.framed, "framed"), (.lost, "lost")]
                .filter { contains($0.0) }.map(\.1).joined(separator: "+")
        }
    }

    private let wire: UnsafeMutablePointer<fl_wayland_wire>

    init() {
        wire = .allocate(capacity: 1)
        wire.initialize(to: fl_wayland_wire())
    }

    deinit { wire.deallocate() }

    func requests(_ bytes: some Collection<UInt8>) -> News { take(bytes, fl_wayland_requests) }
    func requests(_ text: WireText) -> News { requests(text.bytes) }
    func events(_ text: WireText) -> News { take(text.bytes, fl_wayland_events) }

    func take(_ bytes: some Collection<UInt8>, _ direction: Int) -> News {
        let bytes = Array(bytes)
        return News(rawValue: fl_wayland_take(wire, Int32(direction), bytes, bytes.count))
    }
}
