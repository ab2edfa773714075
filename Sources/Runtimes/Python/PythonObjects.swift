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
        guard address.mayBeObject,
            let head = memory.bytes(at: address, count: max(layout.state, layout.length) + 8),
            head.word(at: layout.type) == textType,
            let length = head.word(at: layout.length), length <= UInt64(Self.mostCharacters),
            let state = head.uint32(at: layout.state),
            let place = place(state, address, memory)
        else { return nil }
        let width = Int(state >> 2 & 7)
        let count = min(Int(length), Self.longestText)
        guard [1, 2, 4].contains(width) else { return nil }
        guard count > 0 else { return "" }
        return memory.bytes(at: place, count: count * width).map { Self.decoded($0, width: width) }
    }

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

    /// The content of what a code object calls a bytes object.
    func bytes(at address: UInt64, _ memory: any RuntimeMemory) -> [UInt8]? {
        guard let length = bytesCount(at: address, memory), length <= Self.longestTable else {
            return nil
        }
        guard length > 0 else { return [] }
        return memory.bytes(at: address.advanced(by: layout.bytes), count: length)
    }

    func bytesCount(at address: UInt64, _ memory: any RuntimeMemory) -> Int? {
        guard address.mayBeObject,
            let size = memory.word(at: address.advanced(by: layout.size)),
            size < UInt64(Int32.max)
        else { return nil }
        return Int(size)
    }
}
