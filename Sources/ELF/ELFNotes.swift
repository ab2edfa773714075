/// A note.
package struct ELFNote {
    package var type: UInt32
    /// Whose it is, with the zero byte behind that.
    package var owner: UnsafeRawBufferPointer
    package var content: UnsafeRawBufferPointer
    /// Where its content is among the notes, in bytes.
    package var place: Int

    /// - Parameter owner: without the zero byte.
    package func isOf(_ owner: StaticString, type: UInt32) -> Bool {
        self.type == type && self.owner.count == owner.utf8CodeUnitCount + 1
            && self.owner.hasText(owner, at: 0)
    }
}

/// The notes in a section or segment of them: sizes of owner and content, type, owner, content, the last
/// two padded to four bytes (elf(5), "Notes"). The first that is not whole ends them.
package struct ELFNotes: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    /// - Parameter bytes: outlive this and all that it gives.
    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    package mutating func next() -> ELFNote? {
        guard let ownerSize = bytes.number(UInt32.self, at: position),
            let size = bytes.number(UInt32.self, at: position + 4),
            let type = bytes.number(UInt32.self, at: position + 8)
        else { return nil }
        let owner = position + 12
        let content = owner + Self.padded(ownerSize)
        guard content <= bytes.count, Int(size) <= bytes.count - content else { return nil }
        position = content + Self.padded(size)
        return ELFNote(
            type: type,
            owner: UnsafeRawBufferPointer(rebasing: bytes[owner..<owner + Int(ownerSize)]),
            content: UnsafeRawBufferPointer(rebasing: bytes[content..<content + Int(size)]),
            place: content)
    }

    private static func padded(_ size: UInt32) -> Int { (Int(size) + 3) & ~3 }

    /// The GNU build id that they tell; empty: none.
    package static func buildID(in notes: ArraySlice<UInt8>) -> [UInt8] {
        notes.withUnsafeBytes { bytes in
            let note = ELFNotes(bytes).first { $0.isOf("GNU", type: 3) }
            return note.map { Array($0.content) } ?? []
        }
    }
}
