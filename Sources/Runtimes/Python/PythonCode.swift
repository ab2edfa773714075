/// Names a code object for as long as it lives: another one at its address has other names or tables.
package struct PythonCodeKey: Hashable, Sendable {
    package var address: UInt64
    /// The bytes of ``FrameListLayout/identity``, as words; zeros behind them.
    private var identity: SIMD4<UInt64>

    package init(address: UInt64, identity: some Collection<UInt8>) {
        self.address = address
        self.identity = .zero
        for (index, byte) in identity.prefix(32).enumerated() {
            self.identity[index / 8] |= UInt64(byte) << UInt64(8 * (index % 8))
        }
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.address == right.address && left.identity == right.identity
    }

    package func hash(into hasher: inout Hasher) {
        // The table and the name tell most apart.
        hasher.combine(address)
        hasher.combine(identity[0] ^ identity[1] ^ identity[2] ^ identity[3])
    }
}

/// What a code object says of itself.
package struct PythonCode: Hashable, Sendable {
    package var name: String
    /// With the classes and functions around it; ``name``, where the release does not tell (3.10 and
    /// older).
    package var qualifiedName: String
    /// As the compiler was told it: mostly a path, relative ones included; `<string>`,
    /// `<frozen importlib._bootstrap>` for code without a file.
    package var file: String
    package var lines: PythonLineTable
    /// Of its instructions, in bytes.
    package var length: Int32
    /// Before this place, in bytes, a frame does not count as begun; 0: it always does.
    package var firstTraceable: Int32

    package var firstLine: Int32 { lines.firstLine }

    package init(
        name: String, qualifiedName: String, file: String, lines: PythonLineTable, length: Int32,
        firstTraceable: Int32
    ) {
        (self.name, self.qualifiedName, self.file) = (name, qualifiedName, file)
        (self.lines, self.length, self.firstTraceable) = (lines, length, firstTraceable)
    }
}
