import Shipping
import Testing

@Suite struct WebAddressTests {
    @Test(arguments: [
        ("http://host", "host", 4318, "/"), ("HTTP://host:80/", "host", 80, "/"),
        ("http://10.0.0.1:9/v1/metrics?a=b#c", "10.0.0.1", 9, "/v1/metrics?a=b"),
        ("http://[::1]:8123/db", "::1", 8123, "/db"), ("http://[fe80::1]", "fe80::1", 4318, "/"),
        ("http://host?query=1", "host", 4318, "/?query=1"),
    ])
    func addresses(text: String, host: String, port: UInt16, path: String) throws {
        let address = try WebAddress(text, standardPort: 4318)
        #expect(address.host == host && address.port == port && address.path == path)
        // Its description gives the same address, except for parts that may be secret.
        let again = try WebAddress(address.description, standardPort: 1)
        #expect(again.authority == address.authority)
        #expect(!address.description.contains("?"))
        #expect(again == address || path.contains("?"))
    }

    @Test func fingerprintsAreApart() throws {
        let texts = ["h/a-b", "h/a_b", "h/a?b=1", "h/a?b=2", "g/a-b", "h:2/a-b"]
        let found = try texts.map { try WebAddress("http://\($0)", standardPort: 1).fingerprint }
        #expect(Set(found).count == texts.count)
    }

    @Test(arguments: [
        ("https://host", WebAddress.Problem.encrypted), ("host:80", .notHTTP), ("", .notHTTP),
        ("ftp://host", .notHTTP), ("http://", .malformed), ("http:///path", .malformed),
        ("http://user:secret@host", .credentials), ("http://host:0", .malformed),
        ("http://host:65536", .malformed), ("http://host:x", .malformed),
        ("http://host:", .malformed), ("http://[::1", .malformed), ("http://[::1]x", .malformed),
        ("http://host/a b", .malformed), ("http://host/\r\nX: y", .malformed),
        ("http://h\u{f6}st", .malformed),
    ])
    func problems(text: String, problem: WebAddress.Problem) {
        #expect(throws: problem) { try WebAddress(text, standardPort: 80) }
    }
}
