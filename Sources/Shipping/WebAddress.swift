internal import ProfileModel

/// A server's address and a path on it: `http://HOST[:PORT][/PATH]`.
package struct WebAddress: Hashable, Sendable, CustomStringConvertible {
    package let host: String
    package let port: UInt16
    /// With its first slash, and with the query if there is one.
    package let path: String

    package enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
        case notHTTP
        /// https. A proxy has to encrypt.
        case encrypted
        case credentials
        case malformed

        package var description: String {
            switch self {
            case .notHTTP: "it must begin with http://"
            case .encrypted:
                "https is not supported: send to a collector or proxy on this machine, which encrypts"
            case .credentials:
                "credentials belong in the environment (OTEL_EXPORTER_OTLP_HEADERS), not in an address"
            case .malformed: "it must be http://HOST[:PORT][/PATH]"
            }
        }
    }

    /// - Parameter standardPort: used if the address has no port.
    package init(_ text: String, standardPort: UInt16) throws(Problem) {
        if text.lowercased().hasPrefix("https://") { throw .encrypted }
        guard text.lowercased().hasPrefix("http://") else { throw .notHTTP }
        // A line break would add lines to the request.
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw .malformed }
        let rest = text.dropFirst("http://".count)
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let authority = rest[..<end]
        guard !authority.contains("@") else { throw .credentials }
        let (host, port) = try Self.split(authority)
        guard !host.isEmpty else { throw .malformed }
        self.host = host
        self.port = port ?? standardPort
        let path = rest[end...].prefix { $0 != "#" }
        self.path = path.hasPrefix("/") ? String(path) : "/" + path
    }

    /// `[::1]:80` is an IPv6 address.
    private static func split(
        _ authority: Substring
    ) throws(Problem) -> (host: String, port: UInt16?) {
        var host = authority
        var port = Substring()
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { throw .malformed }
            host = authority[..<end].dropFirst()
            port = authority[end...].dropFirst()
            guard port.isEmpty || port.hasPrefix(":") else { throw .malformed }
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            port = authority[colon...]
        }
        guard !port.isEmpty else { return (String(host), nil) }
        guard let number = UInt16(port.dropFirst()), number > 0 else { throw .malformed }
        return (String(host), number)
    }

    private init(host: String, port: UInt16, path: String) {
        (self.host, self.port, self.path) = (host, port, path)
    }

    /// The same server with another path.
    ///
    /// - Parameter path: with its first slash, percent-encoded.
    package func with(path: String) -> WebAddress {
        WebAddress(host: host, port: port, path: path)
    }

    /// For the header `Host`.
    package var authority: String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }

    /// Without its query, which may hold a secret.
    package var description: String { "http://\(authority)\(path.prefix { $0 != "?" })" }

    /// A hash of the address, at most 16 letters.
    package var fingerprint: String {
        String("\(authority)\(path)".utf8.fingerprint, radix: 16)
    }
}
