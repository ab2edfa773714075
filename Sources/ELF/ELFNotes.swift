/// A note.
package struct ELFNote {
    package var type: UInt32
    /// The owner's name, with its final zero byte.
    package var owner: UnsafeRawBufferPointer
    package var content: UnsafeRawBufferPointer
    /// The offset of its content in the notes, in bytes.
    package var place: Int

    /// - Parameter owner: without the final zero byte.
    package func isOf(_ owner: StaticString, type: UInt32) -> Bool {
        self.type == type && self.owner.count == owner.utf8CodeUnitCount + 1
            && self.owner.hasText(owner, at: 0)
    }
}

/// The notes in a section or segment: sizes of owner and content, type, owner, content, the last
/// two padded to four bytes (elf(5), "Notes"). Ends at the first incomplete note.
package struct ELFNotes: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    /// - Parameter bytes: must outlive this and all notes from it.
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

    /// The GNU build id in the notes; empty if there is none.
    package static func buildID(in notes: ArraySlice<UInt8>) -> [UInt8] {
        notes.withUnsafeBytes { bytes in
            let note = ELFNotes(bytes).first { $0.isOf("GNU", type: 3) }
            return note.map { Array($0.content) } ?? []
        }
    }
}
