/// Where the parts of a little-endian 64-bit ELF file lie, as far as its headers are sound: to
/// mutate sections rather than the container, and to ask for addresses that are in code.
package struct ELFLayout {
    package struct Segment {
        package var address: UInt64
        package var offset: UInt64
        package var size: UInt64
    }

    /// Executable ones.
    package private(set) var code: [Segment] = []
    /// The bytes of the file that sections about debugging, unwinding and symbols take up.
    package private(set) var sections: [Range<Int>] = []

    package init(_ file: UnsafeRawBufferPointer) {
        guard file.count >= 64, file[0] == 0x7F, file[1] == 0x45 else { return }
        let segments = table(file, at: 32, sizeAt: 54, countAt: 56, entry: 56)
        for header in segments {
            let flags: UInt64 = Self.number(file, header + 4, 4)
            guard Self.number(file, header, 4) == 1, flags & 1 != 0 else { continue }
            code.append(
                Segment(
                    address: Self.number(file, header + 16, 8),
                    offset: Self.number(file, header + 8, 8),
                    size: Self.number(file, header + 32, 8)))
        }
        for header in table(file, at: 40, sizeAt: 58, countAt: 60, entry: 64) {
            let type = Self.number(file, header + 4, 4)
            let flags = Self.number(file, header + 8, 8)
            let offset = Self.number(file, header + 24, 8)
            let size = Self.number(file, header + 32, 8)
            // Code is left alone; SHT_NOBITS has no bytes.
            guard flags & 4 == 0, type != 8, size > 0, size <= UInt64(file.count),
                offset <= UInt64(file.count) - size
            else { continue }
            sections.append(Int(offset)..<Int(offset + size))
        }
    }

    /// The positions of a table's entries.
    private func table(
        _ file: UnsafeRawBufferPointer, at place: Int, sizeAt: Int, countAt: Int, entry: Int
    ) -> [Int] {
        let start = Self.number(file, place, 8)
        let size = Int(Self.number(file, sizeAt, 2))
        let count = Int(Self.number(file, countAt, 2))
        guard size >= entry, count <= 256, start <= UInt64(file.count) else { return [] }
        return (0..<count).map { Int(start) + $0 * size }.filter { $0 + entry <= file.count }
    }

    private static func number(_ file: UnsafeRawBufferPointer, _ place: Int, _ size: Int) -> UInt64
    {
        (0..<size).reduce(0) { $0 | UInt64(file[place + $1]) << UInt64(8 * $1) }
    }
}
