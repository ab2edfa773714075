import Glibc
import ProfileModel

/// The address of one end of a socket, as people write it.
package struct SocketAddress: Hashable, CustomStringConvertible {
    /// `127.0.0.1:5432`, `[::1]:80`, `/run/x.sock`, `@abstract`.
    package let description: String

    /// nil if the bytes hold no address, or one that is not of TCP, UDP or the Unix domain.
    ///
    /// - Parameter bytes: a `sockaddr`.
    package init?(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        switch bytes.littleEndianUInt16(at: 0).map(Int32.init) {
        case AF_UNIX:
            let path = Self.unixPath(bytes.dropFirst(2))
            guard !path.isEmpty else { return nil }
            description = path
        case AF_INET:
            guard let port = Self.port(bytes), bytes.count >= 8 else { return nil }
            description = "\(bytes[4]).\(bytes[5]).\(bytes[6]).\(bytes[7]):\(port)"
        case AF_INET6:
            guard let port = Self.port(bytes), bytes.count >= 24,
                let address = Self.text(ofIPv6: Array(bytes[8..<24]))
            else { return nil }
            description = "[\(address)]:\(port)"
        default: return nil
        }
    }

    private static func port(_ bytes: [UInt8]) -> UInt16? {
        bytes.littleEndianUInt16(at: 2)?.byteSwapped
    }

    /// An abstract name begins with 0, and may contain zeros.
    private static func unixPath(_ bytes: ArraySlice<UInt8>) -> String {
        if bytes.first == 0 {
            let name = bytes.dropFirst()
            let end = name.lastIndex { $0 != 0 }
            return end.map { "@" + String(decoding: name[...$0], as: UTF8.self) } ?? ""
        }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    private static func text(ofIPv6 bytes: [UInt8]) -> String? {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
