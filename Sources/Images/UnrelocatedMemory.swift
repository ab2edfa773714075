import Architecture
package import ProcessIO
import ProfileModel

/// The memory of a program that is stopped at its first instruction, as it will be after the
/// program has relocated itself. So its tables can be read before it runs.
package struct UnrelocatedMemory: Sendable {
    private let memory: TargetMemory
    /// The words that relocation will write, ascending by address.
    private var words: [(address: UInt64, value: UInt64)] = []

    /// Eight bytes of the table represent 63 words and cost a system call while the program is
    /// stopped.
    private static let mostPackedBytes = 1 << 16
    private static let relative: Set<UInt64> = [
        RelocationKind.relative, RelocationKind.relativeOfArm,
    ]

    /// nil: there are too many relocations, or their place is unknown.
    ///
    /// - Parameter dynamic: the address of the program's dynamic section.
    package init?(of program: LinkedObject, dynamic: UInt64, memory: TargetMemory) {
        self.memory = memory
        let section = DynamicSection(at: dynamic, bias: program.bias, memory: memory)
        typealias Tag = DynamicSection.Tag
        guard
            let table = Self.table(section, Tag.relocations, Tag.relocationsSize, memory),
            let packed = Self.table(section, Tag.packed, Tag.packedSize, memory)
        else { return nil }
        addTable(table, bias: program.bias)
        guard addPacked(packed, bias: program.bias) else { return nil }
        words.sort { $0.address < $1.address }
    }

    /// Empty if there is no table; nil: it is too large, or cannot be read.
    private static func table(
        _ section: DynamicSection, _ start: UInt64, _ size: UInt64, _ memory: TargetMemory
    ) -> [UInt8]? {
        guard let place = section.location(start) else { return [] }
        guard let size = section.value(size)?.value, size <= Relocation.mostBytes else {
            return nil
        }
        let bytes = memory.read(at: place, count: Int(size))
        return bytes.count == Int(size) ? bytes : nil
    }

    /// Other relocations are left out: their result is unknown, and no jump depends on them.
    private mutating func addTable(_ bytes: [UInt8], bias: UInt64) {
        for relocation in Relocation.all(in: bytes) where Self.relative.contains(relocation.kind) {
            words.append((relocation.place &+ bias, relocation.addend &+ bias))
        }
    }

    /// Packed relocations (`DT_RELR`): an address, or 63 bits that select which of the next words
    /// to relocate. The addends are in the words themselves.
    ///
    /// - Returns: false if one of them cannot be read.
    private mutating func addPacked(_ bytes: [UInt8], bias: UInt64) -> Bool {
        guard bytes.count <= Self.mostPackedBytes else { return false }
        var next: UInt64 = 0
        for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
            guard let entry = bytes.littleEndianWord(at: offset) else { return false }
            if entry & 1 == 0 {
                guard addWords(at: entry &+ bias, which: 1, bias: bias) else { return false }
                next = entry &+ bias &+ 8
            } else {
                guard addWords(at: next, which: entry >> 1, bias: bias) else { return false }
                next &+= 63 * 8
            }
        }
        return true
    }

    /// Reads all these words at once.
    private mutating func addWords(at start: UInt64, which: UInt64, bias: UInt64) -> Bool {
        let count = 64 - which.leadingZeroBitCount
        let bytes = memory.read(at: start, count: 8 * count)
        guard bytes.count == 8 * count else { return false }
        for index in 0..<count where which >> UInt64(index) & 1 == 1 {
            guard let word = bytes.littleEndianWord(at: 8 * index) else { return false }
            words.append((start &+ 8 &* UInt64(index), word &+ bias))
        }
        return true
    }

    /// At most `count` bytes; fewer if the mapping ends before.
    package func read(at address: UInt64, count: Int) -> [UInt8] {
        var bytes = memory.read(at: address, count: count)
        let end = address &+ UInt64(bytes.count)
        let first = words.partitionIndex { $0.address &+ 8 > address }
        for word in words[first...].prefix(while: { $0.address < end }) {
            for byte in 0..<8 {
                let place = word.address &+ UInt64(byte)
                guard place >= address, place < end else { continue }
                bytes[Int(place - address)] = UInt8(truncatingIfNeeded: word.value >> (8 * byte))
            }
        }
        return bytes
    }
}
