import CSystem
import FuzzSupport
import Glibc
import ProfileModel

@testable import Readiness
@testable import Sampler

// Data that other processes send us while a program is recorded: messages to NOTIFY_SOCKET, data
// through the relay, its reports, an X server's answers, and messages of a Wayland client and its
// compositor.

func fuzzWire(_ bytes: UnsafeRawBufferPointer) {
    let bytes = Array(bytes)
    guard let kind = bytes.first else { return }
    let rest = Array(bytes.dropFirst())
    switch kind % 6 {
    case 0: notify(rest)
    case 1: search(rest)
    case 2: news(rest)
    case 3: wayland(rest)
    case 4: XServer.shared.serve(rest, to: .window)
    default: XServer.shared.serve(rest, to: .frame)
    }
}

// MARK: NOTIFY_SOCKET

/// Our socket, and its name.
private let notification: (socket: Int32, name: String) = {
    var name = [CChar](repeating: 0, count: 128)
    let socket = fl_notify_open(&name, name.count)
    precondition(socket >= 0)
    return (socket, String(decoding: name.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self))
}()

/// The first byte is the number of descriptors that come along.
private func notify(_ bytes: [UInt8]) {
    let descriptors = [Int32](repeating: 0, count: Int(bytes.first ?? 0) % 8)
    guard
        fl_notify_send(
            notification.name, bytes, bytes.count, descriptors, Int32(descriptors.count), 100) == 0
    else { return }
    var buffer = [UInt8](repeating: 0, count: 4096)
    var found = fl_notification()
    let length = fl_notify_receive(notification.socket, &buffer, buffer.count, &found)
    precondition(length == min(bytes.count, buffer.count))
    precondition((found.is_cut != 0) == (bytes.count > buffer.count))
    precondition(found.pid == getpid() && Int(found.count) == descriptors.count)
    withUnsafeBytes(of: found.descriptors) { words in
        for number in words.bindMemory(to: Int32.self).prefix(Int(found.count)) {
            precondition(close(number) == 0)
        }
    }
    let message = buffer.prefix(length)
    let lines = message.split(separator: UInt8(ascii: "\n")).map(Array.init)
    precondition(Notification.saysReady(message) == lines.contains(Array("READY=1".utf8)))
}

// MARK: The relay

/// The first byte is the text's length; the text and the searched bytes follow, in pieces.
private func search(_ bytes: [UInt8]) {
    let length = min(Int(bytes.first ?? 0) % 16, max(0, bytes.count - 1))
    let text = Array(bytes.dropFirst().prefix(length))
    let all = Array(bytes.dropFirst(1 + length))
    let search = UnsafeMutablePointer<fl_search>.allocate(capacity: 1)
    defer { search.deallocate() }
    precondition(fl_search_begin(search, text, text.count) == 0)
    var found: Int?
    var position = 0
    while position < all.count {
        let piece = Array(all[position...].prefix(1 + Int(all[position]) % 5))
        position += piece.count
        if fl_search_finds(search, piece, piece.count) == 1 {
            precondition(found == nil)
            found = position
        }
    }
    let place =
        all.isEmpty
        ? nil
        : (0...max(0, all.count - text.count)).first { all[$0...].starts(with: text) }
    precondition((found != nil) == (place != nil))
}

/// Packets of any size in place of a relay's.
private func news(_ bytes: [UInt8]) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return }
    defer { for end in ends { close(end) } }
    var start = 0
    while start < bytes.count {
        let piece = Array(bytes[start...].prefix(1 + Int(bytes[start]) % 24))
        start += piece.count
        guard send(ends[0], piece, piece.count, Int32(MSG_DONTWAIT)) == piece.count else {
            return
        }
        var news = fl_relay_news()
        _ = fl_relay_news(ends[1], &news)
    }
}

// MARK: Wayland

/// Both directions, in pieces: a byte gives the direction and length, as many bytes follow. Single
/// bytes must give the same events, and none twice.
private func wayland(_ bytes: [UInt8]) {
    let wires = UnsafeMutablePointer<fl_wayland_wire>.allocate(capacity: 2)
    defer { wires.deallocate() }
    wires.initialize(repeating: fl_wayland_wire(), count: 2)
    var told: Int32 = 0
    var start = 0
    while start < bytes.count {
        let direction = Int32(bytes[start] >> 7)
        let piece = Array(bytes[(start + 1)...].prefix(Int(bytes[start] & 0x7f)))
        start += 1 + piece.count
        let whole = fl_wayland_take(wires, direction, piece, piece.count)
        var single: Int32 = 0
        for byte in piece {
            let found = withUnsafePointer(to: byte) { fl_wayland_take(wires + 1, direction, $0, 1) }
            precondition(single & found == 0)
            single |= found
        }
        precondition(whole == single && told & whole == 0)
        told |= whole
    }
}

// MARK: X11

/// A server that answers with the input, behind a valid setup, and hangs up.
private final class XServer: @unchecked Sendable {
    static let shared: XServer = {
        atexit { unlink(XServer.path) }
        return XServer()
    }()
    private static let display = 1000 + getpid() % 10_000
    /// Where displays' servers listen.
    private static let path = "/tmp/.X11-unix/X\(display)"
    private let listener: Int32
    private var answer: [UInt8] = []

    private init() {
        let path = Self.path
        mkdir("/tmp/.X11-unix", 0o1777)
        unlink(path)
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) }
        }
        precondition(bound == 0 && listen(listener, 8) == 0)
        self.listener = listener
    }

    /// One screen, whose root is window 1; no formats, depths or vendor.
    private static let setup: [UInt8] = {
        let head: [UInt8] = [1, 0, 11, 0, 0, 0, 18, 0]
        var body = [UInt8](repeating: 0, count: 72)
        (body[6], body[10], body[18], body[19]) = (0x20, 0x1F, 0xFF, 0xFF)
        body[20] = 1
        (body[26], body[27]) = (8, 255)
        body[32] = 1
        return head + body
    }()

    func serve(_ bytes: [UInt8], to wanted: DisplaySource.Wanted) {
        answer = Self.setup + bytes
        var thread = pthread_t()
        let argument = Unmanaged.passUnretained(self).toOpaque()
        let code = pthread_create(
            &thread, nil,
            { argument in
                if let argument {
                    Unmanaged<XServer>.fromOpaque(argument).takeUnretainedValue().answerOne()
                }
                return nil
            }, argument)
        precondition(code == 0)
        watch(for: wanted)
        pthread_join(thread, nil)
    }

    private func watch(for wanted: DisplaySource.Wanted) {
        // Refused, if the answers to the first questions end it.
        guard let connection = try? XConnection.open(":\(Self.display)") else { return }
        let moment = AwaitedMoment()
        moment.pid = getpid()
        switch wanted {
        case .window:
            var watch = WindowWatch(connection, moment)
            watch.lookAtAll()
            watch.run()
        case .frame:
            var watch = DrawingWatch(connection, moment)
            watch.lookAtAll()
            watch.run()
        }
    }

    private func answerOne() {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        var request = [UInt8](repeating: 0, count: 4096)
        _ = read(client, &request, request.count)
        _ = send(client, answer, answer.count, Int32(MSG_NOSIGNAL))
        shutdown(client, Int32(SHUT_WR))
        while read(client, &request, request.count) > 0 {}
        close(client)
    }
}
