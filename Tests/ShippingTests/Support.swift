import Foundation
import Glibc

/// A server on this machine that gives the set answers, one request after the other.
final class Server: @unchecked Sendable {
    enum Answer {
        case text(String)
        /// Closes the connection without a word.
        case nothing
        /// Says nothing until it is ended.
        case silence
    }

    let port: UInt16
    private let listener: Int32
    private let lock = NSLock()
    private var answers: [Answer]
    private var bodies: [String] = []
    private var held: [Int32] = []

    static func status(_ status: Int, _ body: String = "", headers: String = "") -> Answer {
        .text("HTTP/1.1 \(status) x\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)")
    }

    /// The last answer is given again and again.
    ///
    /// - Parameter isListening: false: connections are refused, and no other process gets the port.
    init(_ answers: [Answer], isListening: Bool = true) throws {
        self.answers = answers
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var one: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && (!isListening || listen(listener, 64) == 0)
                    && getsockname(listener, $0, &size) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRINUSE) }
        self.port = UInt16(bigEndian: address.sin_port)
        self.listener = listener
        if isListening { Thread.detachNewThread { [self] in serve() } }
    }

    /// The bodies that came, in their order.
    var received: [String] { lock.withLock { bodies } }

    func end() {
        // Its thread closes it: until then no other socket has its number.
        shutdown(listener, Int32(SHUT_RDWR))
        for connection in lock.withLock({ held }) { close(connection) }
    }

    private func serve() {
        defer { close(listener) }
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return }
            let body = request(from: connection)
            let answer = lock.withLock { () -> Answer in
                if let body { bodies.append(body) }
                return answers.count > 1 ? answers.removeFirst() : answers[0]
            }
            switch answer {
            case .text(let text):
                let bytes = Array(text.utf8)
                _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                close(connection)
            case .nothing: close(connection)
            case .silence: lock.withLock { held.append(connection) }
            }
        }
    }

    private func request(from connection: Int32) -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n"),
                let length = text.range(of: "Content-Length: ").flatMap({
                    Int(text[$0.upperBound...].prefix { $0.isNumber })
                }), text[end.upperBound...].utf8.count >= length
            {
                return String(text[end.upperBound...])
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer.prefix(count)
        }
    }
}
