internal import Architecture

/// The tables that compilers make for jumps of `switch` and computed `goto`.
enum JumpTables {
    /// No switch has more cases.
    private static let mostEntries = 4096

    /// The targets in all tables that the instructions refer to, up to the first entry that leads
    /// out of the given ranges; rather too many than too few.
    ///
    /// Two forms are known: distances of four bytes from the table, and addresses of eight.
    ///
    /// - Parameter read: reads bytes of memory; fewer if the memory ends.
    static func destinations(
        of instructions: [Instruction], inside isInside: (UInt64) -> Bool,
        read: (_ address: UInt64, _ count: Int) -> [UInt8]
    ) -> [UInt64] {
        var found: Set<UInt64> = []
        for table in Set(instructions.compactMap(\.table)) {
            // Most of these are no tables, and need not be read completely.
            guard !entries(of: table, read(table, 8), isInside).isEmpty else { continue }
            found.formUnion(entries(of: table, read(table, 4 * mostEntries), isInside))
        }
        return Array(found)
    }

    private static func entries(
        of table: UInt64, _ bytes: [UInt8], _ isInside: (UInt64) -> Bool
    ) -> [UInt64] {
        let distances = stride(from: 0, to: bytes.count - 3, by: 4).lazy.map {
            let distance = number(in: bytes, at: $0, count: 4)
            return table &+ UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: distance)))
        }
        let addresses = stride(from: 0, to: bytes.count - 7, by: 8).lazy.map {
            number(in: bytes, at: $0, count: 8)
        }
        return Array(distances.prefix(while: isInside)) + addresses.prefix(while: isInside)
    }

    private static func number(in bytes: [UInt8], at offset: Int, count: Int) -> UInt64 {
        (0..<count).reduce(0) { $0 | UInt64(bytes[offset + $1]) << (8 * $1) }
    }
}
