/// Maps each instruction of a code object to its line. Hostile bytes give wrong lines, or none.
package struct PythonLineTable: Hashable, Sendable {
    package enum Format: Hashable, Sendable {
        /// `co_lnotab` of 3.8 and 3.9: pairs of the advance in bytes, and in lines.
        case deltas
        /// `co_linetable` of 3.10: pairs of a range's length in bytes, and its distance in lines
        /// from the previous range.
        case ranges
        /// `co_linetable` of 3.11 and later: ranges with lines and columns, of 1 byte or more each.
        case locations
    }

    package var format: Format
    package var bytes: [UInt8]
    /// The line of the code object itself.
    package var firstLine: Int32

    package init(_ format: Format, _ bytes: [UInt8], firstLine: Int32) {
        (self.format, self.bytes, self.firstLine) = (format, bytes, firstLine)
    }

    /// - Parameter instruction: in bytes from the code's start; negative: it has not begun.
    /// - Returns: nil: the instruction belongs to no line.
    package func line(at instruction: Int32) -> Int32? {
        guard instruction >= 0 else { return firstLine }
        switch format {
        case .deltas: return lineByDeltas(instruction)
        case .ranges: return lineByRanges(instruction)
        case .locations: return lineByLocations(instruction)
        }
    }

    private func lineByDeltas(_ instruction: Int32) -> Int32? {
        var (line, address) = (firstLine, Int32(0))
        for index in stride(from: 0, to: bytes.count - 1, by: 2) {
            address = address &+ Int32(bytes[index])
            if address > instruction { break }
            line = line &+ Int32(Int8(bitPattern: bytes[index + 1]))
        }
        return line
    }

    private func lineByRanges(_ instruction: Int32) -> Int32? {
        var (line, end) = (firstLine, Int32(0))
        for index in stride(from: 0, to: bytes.count - 1, by: 2) {
            let start = end
            end = end &+ Int32(bytes[index])
            let change = Int8(bitPattern: bytes[index + 1])
            // This value means that there is no line.
            if change != .min { line = line &+ Int32(change) }
            if start <= instruction, instruction < end { return change == .min ? nil : line }
        }
        return nil
    }

    private func lineByLocations(_ instruction: Int32) -> Int32? {
        var (line, end, place) = (firstLine, Int32(0), 0)
        while place < bytes.count {
            let first = bytes[place]
            place += 1
            let kind = first >> 3 & 15
            switch kind {
            // The change of the line as a number, and perhaps three more numbers for columns.
            case 13, 14:
                line = line &+ signedNumber(&place)
                if kind == 14 { for _ in 0..<3 { _ = number(&place) } }
            // Columns in two bytes, on this line or one of the next two.
            case 10...12:
                line = line &+ Int32(kind - 10)
                place += 2
            case 15: break
            default: place += 1
            }
            end = end &+ Int32(first & 7) &* 2 &+ 2
            if instruction < end { return kind == 15 ? nil : line }
        }
        return nil
    }

    /// Six bits per byte, the lowest first; a seventh bit says that more follow.
    private func number(_ place: inout Int) -> UInt32 {
        var (value, shift) = (UInt32(0), UInt32(0))
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            if shift < 32 { value |= UInt32(byte & 63) << shift }
            shift = shift &+ 6
            if byte & 64 == 0 { break }
        }
        return value
    }

    /// The lowest bit is its sign.
    private func signedNumber(_ place: inout Int) -> Int32 {
        let value = number(&place)
        let size = Int32(bitPattern: value >> 1)
        return value & 1 == 0 ? size : 0 &- size
    }
}
