import Shipping
import TestSupport
import Testing

@Suite struct HTTPResponseTests {
    private func parsed(
        _ text: String, piece: Int = .max
    ) throws(HTTPResponseParser.Failure) -> HTTPResponse? {
        var parser = HTTPResponseParser()
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            try parser.add(rest.prefix(piece))
            rest = rest.dropFirst(piece)
        }
        return parser.end()
    }

    private static let answers: [(text: String, status: Int, body: String)] = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more", 200, "hello"),
        ("HTTP/1.0 404 Not Found\r\nA: b\r\n\r\nuntil the end", 404, "until the end"),
        ("HTTP/1.1 204 No Content\r\n\r\n", 204, ""),
        ("HTTP/1.1 503 \nRetry-After: 7\nContent-Length: 0\n\n", 503, ""),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "5\r\nhello\r\n7;a=b\r\n, world\r\n0\r\nX: y\r\n\r\n", 200, "hello, world"
        ),
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok",
            201, "ok"
        ),
    ]

    /// However it arrives.
    @Test func answersInPieces() throws {
        for answer in Self.answers {
            for piece in 1...answer.text.utf8.count {
                let response = try #require(try parsed(answer.text, piece: piece))
                #expect(response.status == answer.status)
                #expect(String(decoding: response.body, as: UTF8.self) == answer.body)
            }
        }
        #expect(try parsed(Self.answers[4].text)?.retryAfter == 7)
    }

    @Test func aTruncatedResponseIsRefused() throws {
        let texts = [0, 5].map { Self.answers[$0].text }
        for text in texts {
            for count in 0..<text.utf8.count - 1 {
                let part = String(decoding: Array(text.utf8).prefix(count), as: UTF8.self)
                #expect(try parsed(part) == nil, "\(part)")
            }
        }
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH\r\n\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 999 x\r\n\r\n", "\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
    ])
    func otherProtocolsAreRefused(text: String) {
        #expect(throws: HTTPResponseParser.Failure.malformed) { try parsed(text) }
    }

    @Test func longResponsesAreRefused() {
        let header = "HTTP/1.1 200 OK\r\nA: " + String(repeating: "b", count: 1 << 17)
        #expect(throws: HTTPResponseParser.Failure.tooLong) { try parsed(header) }
        let length = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"
        #expect(throws: HTTPResponseParser.Failure.tooLong) { try parsed(length) }
        let chunk =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            + String(repeating: "0", count: 1 << 17)
        #expect(throws: HTTPResponseParser.Failure.tooLong) { try parsed(chunk) }
    }

    /// Nothing that arrives ends us.
    @Test func anything() {
        var numbers = SeededNumbers(seed: 3)
        for _ in 0..<20_000 {
            var bytes = Array((Self.answers.randomElement(using: &numbers)?.text ?? "").utf8)
            for _ in 0..<Int.random(in: 1...4, using: &numbers) {
                let place = Int.random(in: 0..<bytes.count, using: &numbers)
                bytes[place] = UInt8.random(in: 0...255, using: &numbers)
            }
            var parser = HTTPResponseParser()
            _ = try? parser.add(bytes)
            _ = parser.end()
        }
    }
}
