internal import ELF

/// The content of a ``Parcel``. First the numbers of the map's segments and of the described units,
/// 4 bytes each. Then each segment's start (8 bytes) and value (4). Then for each unit its number,
/// and how many functions, sequences, containers and passed entries it has, 4 bytes each; then
/// these, with 8 bytes for each number of a range or offset, and 4 for others.
extension DebugPlaces {
    private static let segmentSize = 12
    private static let unitSize = 20
    private static let sequenceSize = 24
    private static let containerSize = 20
    private static let functionSize = 28
    static let mostBytes = 16 << 20

    /// Empty if there is too much to store.
    func encoded() -> [UInt8] {
        var result = Parcel.Encoder()
        result.add(UInt32(clamping: map.segments.count))
        result.add(UInt32(clamping: units.count))
        for segment in map.segments {
            result.add(segment.start)
            result.add(segment.value)
        }
        for (number, unit) in units.sorted(by: { $0.key < $1.key }) {
            result.add(UInt32(clamping: number))
            result.add(unit)
        }
        return result.bytes.count <= Self.mostBytes ? result.bytes : []
    }

    /// nil if the numbers contradict each other.
    init?(_ content: UnsafeRawBufferPointer) {
        var cursor = ByteCursor(content, at: 0)
        let counts = (Int(cursor.number(UInt32.self)), Int(cursor.number(UInt32.self)))
        guard counts.0 <= cursor.rest / Self.segmentSize else { return nil }
        var segments: [(start: UInt64, value: Int32)] = []
        segments.reserveCapacity(counts.0)
        for _ in 0..<counts.0 {
            segments.append((cursor.number(UInt64.self), cursor.number(Int32.self)))
        }
        guard let map = IntervalMap(segments: segments), counts.1 <= cursor.rest / Self.unitSize
        else { return nil }
        self.map = map
        for _ in 0..<counts.1 {
            let number = Int(cursor.number(UInt32.self))
            guard let unit = Self.unit(&cursor) else { return nil }
            units[number] = unit
        }
        guard !cursor.isBroken, cursor.isAtEnd else { return nil }
    }

    private static func unit(_ cursor: inout ByteCursor) -> UnitPlaces? {
        let functions = Int(cursor.number(UInt32.self))
        let sequences = Int(cursor.number(UInt32.self))
        let containers = Int(cursor.number(UInt32.self))
        let passed = Int(cursor.number(UInt32.self))
        let size =
            functions * functionSize + sequences * sequenceSize
            + (containers + passed) * containerSize
        guard size <= cursor.rest else { return nil }
        var unit = UnitPlaces()
        unit.functions = cursor.list(functions) {
            guard let (range, offset) = $0.place() else { return nil }
            return FunctionPlace(range: range, offset: offset, depth: $0.number(Int32.self))
        }
        unit.sequences = cursor.list(sequences) {
            $0.place().map { SequencePlace(range: $0.range, offset: $0.offset) }
        }
        unit.containers.all = cursor.list(containers) {
            $0.offsets().map {
                FoundContainer(
                    offset: $0.range.lowerBound, end: $0.range.upperBound, parent: $0.beside)
            }
        }
        unit.containers.passed = cursor.list(passed) {
            $0.offsets().map { PassedEntry(range: $0.range, container: $0.beside) }
        }
        return cursor.isBroken ? nil : unit
    }
}

extension Parcel.Encoder {
    fileprivate mutating func add(_ unit: UnitPlaces) {
        let containers = unit.containers
        for count in [
            unit.functions.count, unit.sequences.count, containers.all.count,
            containers.passed.count,
        ] {
            add(UInt32(clamping: count))
        }
        for function in unit.functions {
            add(function.range, function.offset)
            add(function.depth)
        }
        for sequence in unit.sequences { add(sequence.range, sequence.offset) }
        for container in containers.all {
            add(container.offset..<container.end, container.parent)
        }
        for entry in containers.passed { add(entry.range, entry.container) }
    }

    private mutating func add(_ range: Range<UInt64>, _ offset: Int) {
        add(range.lowerBound)
        add(range.upperBound)
        add(UInt64(offset))
    }

    private mutating func add(_ offsets: Range<Int>, _ beside: Int32) {
        add(UInt64(offsets.lowerBound))
        add(UInt64(offsets.upperBound))
        add(beside)
    }
}

extension ByteCursor {
    fileprivate var rest: Int { end - position }

    /// Reads `count` values; the cursor is broken if one of them makes no sense.
    fileprivate mutating func list<Value>(
        _ count: Int, _ read: (inout ByteCursor) -> Value?
    ) -> ContiguousArray<Value> {
        var result: ContiguousArray<Value> = []
        result.reserveCapacity(count)
        for _ in 0..<count {
            guard let value = read(&self) else {
                move(to: -1)
                break
            }
            result.append(value)
        }
        return result
    }

    fileprivate mutating func place() -> (range: Range<UInt64>, offset: Int)? {
        let (low, high) = (number(UInt64.self), number(UInt64.self))
        guard low <= high, let offset = Int(exactly: number(UInt64.self)) else { return nil }
        return (low..<high, offset)
    }

    fileprivate mutating func offsets() -> (range: Range<Int>, beside: Int32)? {
        guard let low = Int(exactly: number(UInt64.self)),
            let high = Int(exactly: number(UInt64.self)), low <= high
        else { return nil }
        return (low..<high, number(Int32.self))
    }
}
