import ProfileModel

/// Identifies a code object as long as it lives: another code object at its address has other names
/// or tables.
package struct PythonCodeKey: Hashable, Sendable {
    package var address: UInt64
    /// The bytes of ``FrameListLayout/identity`` as words, padded with zeros.
    private var first: UInt64
    private var second: UInt64
    private var third: UInt64
    private var fourth: UInt64

    package init(address: UInt64, identity: ArraySlice<UInt8>) {
        self.address = address
        first = identity.littleEndian(at: 0) ?? 0
        second = identity.littleEndian(at: 8) ?? 0
        third = identity.littleEndian(at: 16) ?? 0
        fourth = identity.littleEndian(at: 24) ?? 0
    }

    package func hash(into hasher: inout Hasher) {
        // The table and the name distinguish most code objects.
        hasher.combine(address)
        hasher.combine(first ^ second ^ third ^ fourth)
    }
}

/// The contents of a code object.
///
/// Frames are copied and compared by the thousand, so the content is shared.
package struct PythonCode: Hashable, Sendable {
    private let content: Content

    private final class Content: Hashable, Sendable {
        let name: String
        let qualifiedName: String
        let file: String
        let lines: PythonLineTable
        let length: Int32
        let firstTraceable: Int32
        let role: PythonImports.Role

        init(
            _ name: String, _ qualifiedName: String, _ file: String, _ lines: PythonLineTable,
            _ length: Int32, _ firstTraceable: Int32
        ) {
            (self.name, self.qualifiedName, self.file) = (name, qualifiedName, file)
            (self.lines, self.length, self.firstTraceable) = (lines, length, firstTraceable)
            role = PythonImports.Role(name: name, file: file)
        }

        static func == (left: Content, right: Content) -> Bool {
            left === right
                || left.name == right.name && left.qualifiedName == right.qualifiedName
                    && left.file == right.file && left.lines == right.lines
                    && left.length == right.length && left.firstTraceable == right.firstTraceable
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(qualifiedName)
            hasher.combine(file)
            hasher.combine(lines)
        }
    }

    package init(
        name: String, qualifiedName: String, file: String, lines: PythonLineTable, length: Int32,
        firstTraceable: Int32
    ) {
        content = Content(name, qualifiedName, file, lines, length, firstTraceable)
    }

    package var name: String { content.name }
    /// With the classes and functions around it; ``name`` if the release does not have it (3.10 and
    /// older).
    package var qualifiedName: String { content.qualifiedName }
    /// As given to the compiler: mostly a path, perhaps a relative one; `<string>` or `<frozen
    /// importlib._bootstrap>` for code without a file.
    package var file: String { content.file }
    package var lines: PythonLineTable { content.lines }
    /// The length of its instructions, in bytes.
    package var length: Int32 { content.length }
    /// Before this offset, in bytes, a frame counts as not begun; 0: it always counts as begun.
    package var firstTraceable: Int32 { content.firstTraceable }
    /// Its role in imports.
    package var role: PythonImports.Role { content.role }

    package var firstLine: Int32 { lines.firstLine }
}
