import Architecture
import ELF
package import ProcessIO
import ProfileModel

/// An ELF file in the process's memory: the parts that are needed without symbols (see elf(5)). We
/// read memory, not the file: it is there, it is small, and no process can have replaced it.
package struct LoadedImage: Sendable {
    package struct Segment: Hashable, Sendable {
        package var kind: UInt32
        package var flags: UInt32
        /// Addresses in the process.
        package var start: UInt64
        package var size: UInt64

        package var isExecutable: Bool { kind == 1 && flags & 1 != 0 }
        package func contains(_ address: UInt64) -> Bool {
            address >= start && address - start < size
        }
    }

    package let memory: TargetMemory
    /// Add this to an address in the file to get the one in the process.
    package let bias: UInt64
    package let segments: [Segment]

    /// The image whose ELF header is at `base`.
    package init?(base: UInt64, memory: TargetMemory) {
        guard let header = ELFHeader(memory.read(at: base, count: 64)) else { return nil }
        self.init(
            programHeaders: base &+ header.segments, count: UInt64(header.segmentCount),
            memory: memory, headerAddress: base)
    }

    /// The image whose program headers are at the given address. The bias follows from `PT_PHDR`.
    /// Without one (static-pie), it follows from the place of the ELF header: at `headerAddress`,
    /// or right before the program headers, where linkers put it. Failing that, the image counts as
    /// unmoved.
    package init?(
        programHeaders: UInt64, count: UInt64, memory: TargetMemory, headerAddress: UInt64? = nil
    ) {
        guard count > 0, count <= 512 else { return nil }
        let raw = ELFSegment.all(
            in: memory.read(at: programHeaders, count: Int(count) * ELFSegment.headerSize)[...])
        guard raw.count == Int(count) else { return nil }
        let bias: UInt64
        if let own = raw.first(where: { $0.type == 6 }) {
            bias = programHeaders &- own.address
        } else if let header = headerAddress ?? Self.header(before: programHeaders, memory),
            let first = raw.first(where: { $0.isLoaded && $0.offset == 0 })
        {
            bias = header &- first.address
        } else {
            bias = 0
        }
        self.memory = memory
        self.bias = bias
        segments = raw.map {
            Segment(
                kind: $0.type, flags: $0.flags, start: $0.address &+ bias, size: $0.memorySize)
        }
    }

    private static func header(before headers: UInt64, _ memory: TargetMemory) -> UInt64? {
        let start = headers &- 64
        return memory.read(at: start, count: 4) == [0x7F, 0x45, 0x4C, 0x46] ? start : nil
    }

    /// Distinguishes files: by their segments, and their notes with the build id.
    package struct Identity: Hashable, Sendable {
        fileprivate var segments: [Segment]
        fileprivate var notes: [UInt8]

        /// True if a note identifies the build: one of type 3 with the owner GNU.
        package var isUnique: Bool { notes.contains([3, 0, 0, 0] + "GNU\0".utf8) }
    }

    package var identity: Identity {
        var notes: [UInt8] = []
        for segment in segments where segment.kind == 4 && segment.size <= 4096 {
            notes += memory.read(at: segment.start, count: Int(segment.size))
        }
        let unmoved = segments.map {
            Segment(kind: $0.kind, flags: $0.flags, start: $0.start &- bias, size: $0.size)
        }
        return Identity(segments: unmoved, notes: notes)
    }

    package func isExecutable(_ address: UInt64) -> Bool {
        segments.contains { $0.isExecutable && $0.contains(address) }
    }

    /// The target of a pointer in the image, relocated or not, if it is in the image's writable
    /// memory. nil: it is elsewhere, or the word in memory is useless before relocation.
    package func writable(at pointer: UInt64) -> UInt64? {
        guard let word = memory.word(at: pointer), word != 0 else { return nil }
        return [word, word &+ bias].first(where: isWritable)
    }

    /// True if the image may write at this address, perhaps only until it is relocated.
    package func isWritable(_ address: UInt64) -> Bool {
        segments.contains { $0.kind == 1 && $0.flags & 2 != 0 && $0.contains(address) }
    }

    /// The address in the process of an exported symbol.
    package func address(ofSymbol name: StaticString) -> UInt64? { addresses(ofSymbols: [name])[0] }

    /// The addresses in the process of exported symbols, each nil if there is none. Walks the
    /// dynamic symbol table once (bounded).
    package func addresses(ofSymbols wanted: [StaticString]) -> [UInt64?] {
        ranges(
            called: wanted.map {
                Array(UnsafeBufferPointer(start: $0.utf8Start, count: $0.utf8CodeUnitCount))
            }
        ).map { $0?.lowerBound }
    }

    private static let mostBytesOfSymbol: UInt64 = 1 << 28

    /// The address ranges of the exported symbols among them.
    package func ranges(ofSymbols names: [String]) -> [String: Range<UInt64>] {
        let found = zip(names, ranges(called: names.map { Array($0.utf8) }))
        return Dictionary(
            found.compactMap { name, range in range.map { (name, $0) } },
            uniquingKeysWith: { first, _ in first })
    }

    private func ranges(called wanted: [[UInt8]]) -> [Range<UInt64>?] {
        var found = [Range<UInt64>?](repeating: nil, count: wanted.count)
        guard let tables = dynamicTables() else { return found }
        let symbols = memory.read(at: tables.symbols, count: 24 * tables.symbolCount)
        let names = memory.read(at: tables.strings, count: tables.stringsSize)
        for index in 0..<(symbols.count / 24) {
            guard let nameOffset = symbols.littleEndianUInt32(at: 24 * index),
                let section = symbols.littleEndianUInt16(at: 24 * index + 6), section != 0,
                let value = symbols.littleEndianWord(at: 24 * index + 8),
                let size = symbols.littleEndianWord(at: 24 * index + 16)
            else { continue }
            let start = Int(nameOffset)
            for (number, name) in wanted.enumerated() where found[number] == nil {
                let end = start + name.count
                if end < names.count, names[end] == 0, names[start..<end].elementsEqual(name) {
                    let place = value &+ bias
                    // No function is larger than this.
                    let end = place &+ min(size, Self.mostBytesOfSymbol)
                    found[number] = place..<max(place, end)
                }
            }
        }
        return found
    }

    /// True if it contains LeakSanitizer, alone or as part of AddressSanitizer. LeakSanitizer stops
    /// all threads by ptrace as the program ends, and fails if they are traced already.
    package var hasLeakSanitizer: Bool {
        guard let tables = dynamicTables() else { return false }
        let names = memory.read(at: tables.strings, count: tables.stringsSize)
        return ["libasan.so", "liblsan.so", "__lsan_"].contains { names.hasSequence($0.utf8) }
    }

    private struct DynamicTables {
        var symbols: UInt64
        var symbolCount: Int
        var strings: UInt64
        var stringsSize: Int
    }

    private func dynamicTables() -> DynamicTables? {
        guard let dynamic = segments.first(where: { $0.kind == 2 }) else { return nil }
        let bytes = memory.read(at: dynamic.start, count: Int(min(dynamic.size, 8192)))
        var values: [UInt64: UInt64] = [:]
        var offset = 0
        while let tag = bytes.littleEndianWord(at: offset),
            let value = bytes.littleEndianWord(at: offset + 8), tag != 0
        {
            values[tag] = value
            offset += 16
        }
        guard let symbols = values[6], let strings = values[5], let size = values[10],
            strings > symbols, size <= 1 << 20
        else { return nil }
        // Linkers place the string table right behind the symbols; it bounds their number.
        return DynamicTables(
            symbols: located(symbols), symbolCount: Int(min((strings - symbols) / 24, 65536)),
            strings: located(strings), stringsSize: Int(size))
    }

    /// The dynamic linker relocates its own table's addresses at some point of its start.
    private func located(_ address: UInt64) -> UInt64 {
        contains(address) ? address : address &+ bias
    }
}

extension LoadedImage {
    /// True if the address lies in a loaded segment.
    package func contains(_ address: UInt64) -> Bool {
        segments.contains { $0.kind == 1 && $0.contains(address) }
    }

    /// True if an address cannot be written any more once the image is relocated (`PT_GNU_RELRO`;
    /// whole pages).
    package func isProtected(_ address: UInt64) -> Bool {
        segments.contains {
            let end = VirtualMemory.pageStart(of: $0.start &+ $0.size)
            return $0.kind == 0x6474_E552 && address >= VirtualMemory.pageStart(of: $0.start)
                && end >= 8 && address <= end - 8
        }
    }
}
