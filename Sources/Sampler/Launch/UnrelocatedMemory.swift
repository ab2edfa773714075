import ProfileModel

/// The memory of a program that stands at its first instruction, as it will be once the program has
/// relocated itself: what is to be known of its tables can be read before it runs.
struct UnrelocatedMemory: Sendable {
    private let memory: TargetMemory
    /// The words that relocation will write: where, in ascending order, and what.
    private var words: [(address: UInt64, value: UInt64)] = []

    /// Larger ones would take long while the program stands.
    private static let mostBytes: UInt64 = 1 << 22
    /// R_X86_64_RELATIVE and R_AARCH64_RELATIVE.
    private static let relative: Set<UInt64> = [8, 1027]

    /// nil: there are too many relocations, or where they are is not told.
    ///
    /// - Parameter dynamic: where the program's dynamic section is.
    init?(of program: LinkedObject, dynamic: UInt64, memory: TargetMemory) {
        self.memory = memory
        let section = DynamicSection(at: dynamic, bias: program.bias, memory: memory)
        typealias Tag = DynamicSection.Tag
        guard
            let table = Self.table(section, Tag.relocations, Tag.relocationsSize, memory),
            let packed = Self.table(section, Tag.packed, Tag.packedSize, memory)
        else { return nil }
        addTable(table, bias: program.bias)
        addPacked(packed, bias: program.bias)
        words.sort { $0.address < $1.address }
    }

    /// Empty where there is none; nil: it is too large, or cannot be read.
    private static func table(
        _ section: DynamicSection, _ start: UInt64, _ size: UInt64, _ memory: TargetMemory
    ) -> [UInt8]? {
        guard let place = section.location(start) else { return [] }
        guard let size = section.value(size)?.value, size <= mostBytes else { return nil }
        let bytes = memory.read(at: place, count: Int(size))
        return bytes.count == Int(size) ? bytes : nil
    }

    /// Of all others, what they make is not known; jumps lead by none of them.
    private mutating func addTable(_ bytes: [UInt8], bias: UInt64) {
        for offset in stride(from: 0, to: bytes.count - 23, by: 24) {
            guard let place = bytes.littleEndianWord(at: offset),
                let kind = bytes.littleEndianWord(at: offset + 8),
                let addend = bytes.littleEndianWord(at: offset + 16),
                Self.relative.contains(kind)
            else { continue }
            words.append((place &+ bias, addend &+ bias))
        }
    }

    /// Packed ones (`DT_RELR`): an address, or 63 bits that say which of the next words follow it; what
    /// is added to stands in the words themselves.
    private mutating func addPacked(_ bytes: [UInt8], bias: UInt64) {
        var next: UInt64 = 0
        for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
            guard let entry = bytes.littleEndianWord(at: offset) else { return }
            if entry & 1 == 0 {
                addPacked(at: entry &+ bias, bias: bias)
                next = entry &+ bias &+ 8
            } else {
                for bit in 0..<63 where entry >> (UInt64(bit) + 1) & 1 == 1 {
                    addPacked(at: next &+ UInt64(bit) &* 8, bias: bias)
                }
                next &+= 63 * 8
            }
            guard words.count < Int(Self.mostBytes) / 8 else { return }
        }
    }

    private mutating func addPacked(at address: UInt64, bias: UInt64) {
        guard let word = memory.word(at: address) else { return }
        words.append((address, word &+ bias))
    }

    /// Up to so many bytes; fewer where what is mapped ends.
    func read(at address: UInt64, count: Int) -> [UInt8] {
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
