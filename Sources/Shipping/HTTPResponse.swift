/// A server's answer.
package struct HTTPResponse: Hashable, Sendable {
    package var status: Int
    /// By name in lower case. If a name occurs several times, the last value counts.
    package var headers: [String: String] = [:]
    package var body: [UInt8] = []

    package init(status: Int) { self.status = status }

    package var isSuccess: Bool { 200..<300 ~= status }

    /// The seconds to wait before another attempt; nil: the server does not say.
    package var retryAfter: Int? {
        headers["retry-after"].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}

/// Parses an answer as it arrives. The server is not trusted: headers and body have limits.
package struct HTTPResponseParser: Sendable {
    package enum Failure: Error, Hashable, Sendable {
        case malformed
        case tooLong
    }

    private enum Stage: Hashable {
        case headers
        case body(left: Int)
        case untilEnd
        case chunkSize
        case chunk(left: Int)
        case chunkEnd
        case trailer
        case done
    }

    package private(set) var response: HTTPResponse?
    private var stage = Stage.headers
    private var pending: [UInt8] = []

    package static let mostHeaderBytes = 64 << 10
    package static let mostBodyBytes = 64 << 20

    package init() {}

    package var isDone: Bool { stage == .done }

    /// Call it when the server has closed the connection. nil: the answer is incomplete.
    package func end() -> HTTPResponse? { stage == .done || stage == .untilEnd ? response : nil }

    package mutating func add(_ bytes: some Sequence<UInt8>) throws(Failure) {
        pending.append(contentsOf: bytes)
        while try step() {}
        guard pending.count <= Self.mostHeaderBytes || stage == .done else { throw .tooLong }
    }

    /// True if something was parsed, so that there may be more.
    private mutating func step() throws(Failure) -> Bool {
        switch stage {
        case .done: return false
        case .headers: return try takeHeaders()
        case .body(let left):
            let rest = left - (try take(left))
            stage = rest == 0 ? .done : .body(left: rest)
            return false
        case .untilEnd:
            _ = try take(.max)
            return false
        case .chunkSize:
            guard let line = try takeLine() else { return false }
            let digits = line.prefix { $0 != UInt8(ascii: ";") }
            guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16), size >= 0
            else { throw .malformed }
            stage = size == 0 ? .trailer : .chunk(left: size)
            return true
        case .chunk(let left):
            let rest = left - (try take(left))
            stage = rest == 0 ? .chunkEnd : .chunk(left: rest)
            return rest == 0
        case .chunkEnd:
            guard let line = try takeLine() else { return false }
            guard line.isEmpty else { throw .malformed }
            stage = .chunkSize
            return true
        case .trailer:
            guard let line = try takeLine() else { return false }
            if line.isEmpty { stage = .done }
            return true
        }
    }

    /// Moves bytes into the body.
    private mutating func take(_ most: Int) throws(Failure) -> Int {
        let count = min(most, pending.count)
        guard (response?.body.count ?? 0) + count <= Self.mostBodyBytes else { throw .tooLong }
        response?.body.append(contentsOf: pending.prefix(count))
        pending.removeFirst(count)
        return count
    }

    /// A line without its line break; nil: it is not complete yet.
    private mutating func takeLine() throws(Failure) -> [UInt8]? {
        guard let end = pending.firstIndex(of: 10) else {
            guard pending.count < Self.mostHeaderBytes else { throw .tooLong }
            return nil
        }
        var line = Array(pending[..<end])
        if line.last == 13 { line.removeLast() }
        pending.removeFirst(end + 1)
        return line
    }

    private mutating func takeHeaders() throws(Failure) -> Bool {
        guard Self.hasHeaderEnd(pending) else {
            guard pending.count < Self.mostHeaderBytes else { throw .tooLong }
            return false
        }
        var lines: [String] = []
        while let line = try takeLine(), !line.isEmpty {
            lines.append(String(decoding: line, as: UTF8.self))
        }
        guard let first = lines.first else { throw .malformed }
        let words = first.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]),
            100..<600 ~= status
        else { throw .malformed }
        // 100 Continue and similar: the answer follows.
        guard status >= 200 else { return true }
        var response = HTTPResponse(status: status)
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { throw .malformed }
            let value = line[colon...].dropFirst().drop { $0 == " " || $0 == "\t" }
            response.headers[line[..<colon].lowercased()] = String(value)
        }
        self.response = response
        stage = try body(of: response)
        return stage != .done
    }

    private func body(of response: HTTPResponse) throws(Failure) -> Stage {
        if response.status == 204 || response.status == 304 { return .done }
        if let coding = response.headers["transfer-encoding"] {
            guard coding.lowercased() == "chunked" else { throw .malformed }
            return .chunkSize
        }
        guard let length = response.headers["content-length"] else { return .untilEnd }
        guard let count = Int(length), count >= 0 else { throw .malformed }
        guard count <= Self.mostBodyBytes else { throw .tooLong }
        return count == 0 ? .done : .body(left: count)
    }

    /// True if the empty line after the headers has arrived.
    private static func hasHeaderEnd(_ bytes: [UInt8]) -> Bool {
        var isAtStart = false
        for byte in bytes {
            if byte == 10 {
                if isAtStart { return true }
                isAtStart = true
            } else if byte != 13 {
                isAtStart = false
            }
        }
        return false
    }
}
