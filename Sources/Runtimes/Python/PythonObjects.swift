/// Reads Python's objects for texts and bytes.
struct PythonObjects: Sendable {
    let layout: PythonLayout.Object
    let textType: UInt64

    init(_ interpreter: PythonInterpreter) {
        (layout, textType) = (interpreter.offsets.object, interpreter.textType)
    }

    /// In characters; longer names are cut.
    static let longestText = 4096
    /// In bytes; no code object has a longer table.
    static let longestTable = 1 << 20

    /// The text of a str object; nil: it is not a str. Characters outside Unicode are replaced.
    func text(at address: UInt64, _ memory: any RuntimeMemory) -> String? {
        // Includes most texts' characters, which follow; at a mapping's end, without them.
        guard address.mayBeObject,
            let head = memory.bytes(at: address, count: Self.usualObject)
                ?? memory.bytes(at: address, count: max(layout.state, layout.length) + 8)
        else { return nil }
        return text(at: address, head, memory)
    }

    /// As ``text(at:_:)``, for several addresses, read in one go.
    func texts(at addresses: [UInt64], _ memory: any RuntimeMemory) -> [String?] {
        let size = Self.usualObject
        let bytes = memory.bytes(at: addresses, count: size)
        return addresses.indices.map { index in
            let head = Array(bytes.dropFirst(index * size).prefix(size))
            // A piece that cannot be read as a whole is zeroes.
            guard head.word(at: layout.type) == textType else {
                return text(at: addresses[index], memory)
            }
            return text(at: addresses[index], head, memory)
        }
    }

    /// - Parameter head: the object's beginning, with some of the bytes behind it.
    private func text(
        at address: UInt64, _ head: [UInt8], _ memory: any RuntimeMemory
    ) -> String? {
        guard head.word(at: layout.type) == textType,
            let length = head.word(at: layout.length), length <= UInt64(Self.mostCharacters),
            let state = head.uint32(at: layout.state),
            let place = place(state, address, memory)
        else { return nil }
        let width = Int(state >> 2 & 7)
        let count = min(Int(length), Self.longestText)
        guard [1, 2, 4].contains(width) else { return nil }
        guard count > 0 else { return "" }
        let (start, size) = (place &- address, count * width)
        if start < UInt64(head.count), size <= head.count - Int(start) {
            return Self.decoded(Array(head[Int(start)...].prefix(size)), width: width)
        }
        return memory.bytes(at: place, count: size).map { Self.decoded($0, width: width) }
    }

    /// Most texts and most line tables fit into this. In bytes.
    private static var usualObject: Int { 256 }

    /// A longer text is not a name.
    private static var mostCharacters: Int { 1 << 20 }

    /// The address of its characters.
    private func place(
        _ state: UInt32, _ address: UInt64, _ memory: any RuntimeMemory
    ) -> UInt64? {
        let (isCompact, isASCII) = (state & 0x20 != 0, state & 0x40 != 0)
        guard isCompact else { return memory.word(at: address.advanced(by: layout.compact)) }
        return address.advanced(by: isASCII ? layout.ascii : layout.compact)
    }

    static func decoded(_ bytes: [UInt8], width: Int) -> String {
        var text = String.UnicodeScalarView()
        for start in stride(from: 0, to: bytes.count - width + 1, by: width) {
            var value: UInt32 = 0
            for index in 0..<width { value |= UInt32(bytes[start + index]) << UInt32(8 * index) }
            // Surrogates, and numbers that are no character.
            text.append(Unicode.Scalar(value) ?? "\u{FFFD}")
        }
        return String(text)
    }

    /// The content of an object that a code object claims to be a bytes object.
    func bytes(at address: UInt64, _ memory: any RuntimeMemory) -> [UInt8]? {
        guard address.mayBeObject else { return nil }
        let head = memory.bytes(at: address, count: Self.usualObject) ?? []
        guard let length = head.isEmpty ? bytesCount(at: address, memory) : count(head),
            length <= Self.longestTable
        else { return nil }
        guard length > 0 else { return [] }
        if length <= head.count - layout.bytes {
            return Array(head[layout.bytes...].prefix(length))
        }
        return memory.bytes(at: address.advanced(by: layout.bytes), count: length)
    }

    private func count(_ head: [UInt8]) -> Int? {
        head.word(at: layout.size).flatMap { $0 < UInt64(Int32.max) ? Int($0) : nil }
    }

    func bytesCount(at address: UInt64, _ memory: any RuntimeMemory) -> Int? {
        guard address.mayBeObject,
            let size = memory.word(at: address.advanced(by: layout.size)),
            size < UInt64(Int32.max)
        else { return nil }
        return Int(size)
    }
}
