/// A request to the kernel's rtnetlink(7): a header, a fixed structure and nested attributes, in
/// this machine's byte order. Pure: ``NetworkSocket`` sends it.
struct NetlinkMessage {
    private(set) var bytes: [UInt8]

    /// - Parameters:
    ///   - type: `RTM_…`.
    ///   - flags: `NLM_F_…`, in addition to those for an acknowledged request.
    init(type: UInt16, flags: UInt16 = 0) {
        bytes = []
        append(UInt32(0))
        append(type)
        append(flags | 1 | 4)  // NLM_F_REQUEST, NLM_F_ACK
        append(UInt32(1))  // the sequence number: one request is under way at a time
        append(UInt32(0))
        setLength()
    }

    private mutating func setLength() {
        for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: bytes.count >> (8 * index)) }
    }

    /// Appends a field of the fixed structure.
    mutating func append<Value: FixedWidthInteger>(_ value: Value) {
        for index in 0..<Value.bitWidth / 8 {
            bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index)))
        }
        if bytes.count >= 16 { setLength() }
    }

    mutating func attribute(_ type: UInt16, _ value: [UInt8]) {
        let start = bytes.count
        append(UInt16(4 + value.count))
        append(type)
        bytes += value
        pad(from: start)
    }

    mutating func attribute<Value: FixedWidthInteger>(_ type: UInt16, _ value: Value) {
        let bytes = (0..<Value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        attribute(type, bytes)
    }

    /// A string, with its final zero.
    mutating func attribute(_ type: UInt16, _ text: String) {
        attribute(type, Array(text.utf8) + [0])
    }

    /// An attribute with the content that `body` appends.
    mutating func nested(_ type: UInt16, _ body: (inout NetlinkMessage) -> Void) {
        let start = bytes.count
        append(UInt16(0))
        append(type)
        body(&self)
        let length = bytes.count - start
        bytes[start] = UInt8(truncatingIfNeeded: length)
        bytes[start + 1] = UInt8(truncatingIfNeeded: length >> 8)
        pad(from: start)
    }

    private mutating func pad(from start: Int) {
        while (bytes.count - start) % 4 != 0 { bytes.append(0) }
        setLength()
    }
}

/// The kernel's answer.
enum NetlinkAnswer: Equatable {
    case done
    /// `errno`, and the kernel's explanation if there is one.
    case refused(code: Int32, words: String)
    /// Not the answer, or not yet.
    case other

    /// `struct nlmsghdr`, then `struct nlmsgerr`, then attributes (`NLMSGERR_ATTR_MSG`).
    init(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        func number(_ offset: Int, _ size: Int) -> Int {
            guard offset >= 0, offset + size <= bytes.count else { return 0 }
            return (0..<size).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
        }
        let length = number(0, 4)
        guard bytes.count >= 20, length >= 20, length <= bytes.count, number(4, 2) == 2 else {
            self = .other
            return
        }
        let code = Int32(truncatingIfNeeded: number(16, 4))
        guard code != 0 else {
            self = .done
            return
        }
        var words = ""
        // After the request's header; NLM_F_CAPPED means that its body is left out.
        let isCapped = number(6, 2) & 0x100 != 0
        var next = 20 + (isCapped ? 16 : max(16, (number(20, 4) + 3) & ~3))
        while number(6, 2) & 0x200 != 0, next + 4 <= length {
            let size = number(next, 2)
            guard size >= 4, next + size <= length else { break }
            if number(next + 2, 2) & 0x3FFF == 1 {
                words = String(
                    decoding: bytes[next + 4..<next + size].prefix { $0 != 0 }, as: UTF8.self)
            }
            next += (size + 3) & ~3
        }
        self = .refused(code: code < 0 ? 0 &- code : code, words: words)
    }
}
