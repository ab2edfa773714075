import CXCB
import Glibc
import System
import Testing

@testable import Readiness
@testable import Sampler

@Suite struct XConnectionTests {
    /// Without X-Resource windows are heard of all the same.
    @Test func aServerWithoutExtensions() throws {
        let server = try PlainServer()
        let connection = try XConnection.open(server.display)
        guard case .mapped(7)? = connection.next() else {
            Issue.record("nothing was heard of the window")
            return
        }
        // It claims 60,000 children, and names one.
        #expect(connection.children(of: 1) == [9])
        #expect(connection.process(of: 7) == nil)
    }

    @Test(
        arguments: [
            ([1, 2, 4, 77], 77), ([1, 1, 0, 5, 2, 4, 78], 78), ([1, 2, 4], nil), ([1, 2], nil),
            ([], nil), ([1, 2, 400_000, 79], 79), ([1, 1, 0, 1, 1, 0], nil),
        ] as [([UInt32], Int32?)])
    func clientIDs(words: [UInt32], pid: Int32?) {
        words.withUnsafeBytes { #expect(XConnection.firstProcess(inClientIDs: $0) == pid) }
    }
}

/// A server of one screen and no extension, whose window 7 is mapped at once.
private final class PlainServer: Sendable {
    let display: String
    private let listener: Int32

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        // X11's displays have their ports from 6000 on.
        let display = (600..<700).first { display in
            address.sin_port = in_port_t(6000 + display).bigEndian
            return withUnsafeBytes(of: &address) { bytes in
                bind(
                    listener, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
                    socklen_t(bytes.count)) == 0
            }
        }
        try #require(listen(listener, 4) == 0)
        self.display = "127.0.0.1:\(try #require(display))"
        self.listener = listener
        #expect(startThread { serve(accept(listener, nil, nil)) })
    }

    deinit { close(listener) }
}

/// Until the client leaves.
private func serve(_ client: Int32) {
    defer { close(client) }
    var setup = [UInt8](repeating: 0, count: 80)
    (setup[0], setup[2], setup[6]) = (1, 11, 18)
    // The range of our ids, one root (window 1), the range of keys.
    (setup[14], setup[18], setup[26], setup[27]) = (0x20, 0x1F, 0xFF, 0xFF)
    (setup[28], setup[34], setup[35], setup[40]) = (1, 8, 255, 1)
    guard read(12, from: client) != nil else { return }
    send(setup, to: client)
    var sequence: UInt8 = 0
    while let head = read(4, from: client) {
        let length = 4 * (Int(head[2]) + Int(head[3]) << 8)
        guard length >= 4, read(length - 4, from: client) != nil else { return }
        sequence += 1
        var reply = [UInt8](repeating: 0, count: 32)
        (reply[0], reply[2]) = (1, sequence)
        switch head[0] {
        case UInt8(XCB_QUERY_TREE):
            reply[4] = 1
            (reply[16], reply[17]) = (0x60, 0xEA)
            reply += [9, 0, 0, 0]
        case UInt8(XCB_CHANGE_WINDOW_ATTRIBUTES): continue
        case UInt8(XCB_GET_INPUT_FOCUS):
            var event = [UInt8](repeating: 0, count: 32)
            (event[0], event[2], event[4], event[8]) = (UInt8(XCB_MAP_NOTIFY), sequence, 1, 7)
            reply += event
        default: break
        }
        send(reply, to: client)
    }
}

private func read(_ count: Int, from client: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = count == 0 ? 0 : recv(client, &bytes, count, Int32(MSG_WAITALL))
    return got == count ? bytes : nil
}

private func send(_ bytes: [UInt8], to client: Int32) {
    _ = Glibc.send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
}
