internal import Glibc
package import ProfileModel
internal import System

/// Why a server did not answer.
package enum HTTPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The host's name is unknown; with the resolver's message.
    case unknownHost(String)
    /// `connect`, `send` or `recv` failed, with its `errno`.
    case connection(Int32)
    /// The request took too long.
    case timedOut
    /// The server closed the connection in the middle of its answer.
    case cutShort
    /// The answer is not HTTP.
    case malformed
    /// The answer is longer than we read.
    case tooLong

    package var description: String {
        switch self {
        case .unknownHost(let reason): reason
        case .connection(let number): String(cString: strerror(number))
        case .timedOut: "no answer in time"
        case .cutShort: "the server closed the connection in the middle of its answer"
        case .malformed: "the answer is not HTTP"
        case .tooLong: "the answer is too long"
        }
    }
}

/// Sends one request at a time, each on a connection of its own.
package struct HTTPClient: Sendable {
    /// For a whole request: connecting, sending and receiving.
    package var limit: TimeSpan

    package init(limit: TimeSpan = .milliseconds(30_000)) { self.limit = limit }

    /// - Parameter headers: in addition to those that every request has.
    package func post(
        _ body: [UInt8], to address: WebAddress, headers: [(name: String, value: String)]
    ) throws(HTTPError) -> HTTPResponse {
        let deadline = Deadline(after: limit)
        let socket = try Socket(to: address, by: deadline)
        var head = "POST \(address.path) HTTP/1.1\r\nHost: \(address.authority)\r\n"
        head += "Content-Length: \(body.count)\r\nConnection: close\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        head += "\r\n"
        // A server that refuses the request may answer before it has read everything.
        let isSent = try socket.send(Array(head.utf8) + body, by: deadline)
        return try response(from: socket, by: deadline, isWhole: isSent)
    }

    private func response(
        from socket: borrowing Socket, by deadline: Deadline, isWhole: Bool
    ) throws(HTTPError) -> HTTPResponse {
        var parser = HTTPResponseParser()
        while !parser.isDone {
            let bytes = try socket.receive(by: deadline)
            if bytes.isEmpty { break }
            do throws(HTTPResponseParser.Failure) {
                try parser.add(bytes)
            } catch {
                throw error == .tooLong ? .tooLong : .malformed
            }
        }
        guard let response = parser.end() else {
            throw isWhole ? .cutShort : .connection(EPIPE)
        }
        return response
    }
}

/// The time by which something must be done.
struct Deadline {
    private let end: MonotonicTime

    init(after span: TimeSpan) { end = .now + span }

    /// The time left, for `poll`; 0: none.
    var milliseconds: Int32 {
        let left = (end - .now).nanoseconds
        return left <= 0 ? 0 : Int32(clamping: left / 1_000_000 + 1)
    }
}

// Raw memory: the C library's addresses and buffers, in this type only.

/// A connection. Every wait has a deadline.
private struct Socket: ~Copyable {
    private let descriptor: Int32

    /// Tries all addresses of the host, one after the other.
    init(to address: WebAddress, by deadline: Deadline) throws(HTTPError) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(address.host, String(address.port), &hints, &list)
        guard code == 0 else { throw .unknownHost(String(cString: gai_strerror(code))) }
        defer { freeaddrinfo(list) }
        var problem = HTTPError.connection(ECONNREFUSED)
        var next = list
        while let found = next {
            next = found.pointee.ai_next
            do throws(HTTPError) {
                descriptor = try Self.connected(found.pointee, by: deadline)
                return
            } catch {
                problem = error
                if error == .timedOut { break }
            }
        }
        throw problem
    }

    deinit { close(descriptor) }

    private static func connected(
        _ target: addrinfo, by deadline: Deadline
    ) throws(HTTPError) -> Int32 {
        let kind = target.ai_socktype | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(target.ai_family, kind, target.ai_protocol)
        guard descriptor >= 0 else { throw .connection(errno) }
        do throws(HTTPError) {
            if connect(descriptor, target.ai_addr, target.ai_addrlen) != 0 {
                guard errno == EINPROGRESS else { throw .connection(errno) }
                try wait(for: descriptor, Int16(POLLOUT), by: deadline)
                var number: Int32 = 0
                var size = socklen_t(MemoryLayout<Int32>.size)
                guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &size) == 0 else {
                    throw .connection(errno)
                }
                guard number == 0 else { throw .connection(number) }
            }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func wait(
        for descriptor: Int32, _ events: Int16, by deadline: Deadline
    ) throws(HTTPError) {
        var request = pollfd(fd: descriptor, events: events, revents: 0)
        while true {
            let left = deadline.milliseconds
            guard left > 0 else { throw .timedOut }
            let found = poll(&request, 1, left)
            if found > 0 { return }
            // The loop computes the time left again instead of repeating the call unchanged.
            guard found == 0 || errno == EINTR else { throw .connection(errno) }
        }
    }

    /// False if the server stopped reading; its answer may say why.
    borrowing func send(_ bytes: [UInt8], by deadline: Deadline) throws(HTTPError) -> Bool {
        var sent = 0
        while sent < bytes.count {
            try Self.wait(for: descriptor, Int16(POLLOUT), by: deadline)
            do throws(Errno) {
                sent += try send(bytes[sent...])
            } catch {
                switch error.number {
                case EAGAIN: continue
                case EPIPE, ECONNRESET: return false
                default: throw .connection(error.number)
                }
            }
        }
        return true
    }

    private borrowing func send(_ bytes: ArraySlice<UInt8>) throws(Errno) -> Int {
        return try retrying {
            bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
        }
    }

    /// Empty at the end of the server's answer.
    borrowing func receive(by deadline: Deadline) throws(HTTPError) -> [UInt8] {
        while true {
            try Self.wait(for: descriptor, Int16(POLLIN), by: deadline)
            do throws(Errno) {
                return try receive()
            } catch {
                guard error.number == EAGAIN else { throw .connection(error.number) }
            }
        }
    }

    private borrowing func receive() throws(Errno) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = try retrying { recv(descriptor, &bytes, bytes.count, 0) }
        return Array(bytes[..<count])
    }
}
