internal import ELF

/// `.debug_cu_index` of a package (`.dwp`): tells which part of each section belongs to which unit.
///
/// The header has the version (2 for GNU's extension of DWARF 4, or 5), then the numbers of
/// columns, units and slots, 4 bytes each. A hash table follows: for each slot the unit's id, 8
/// bytes; then for each slot its row, 4 bytes, 0 for none. Then come, with 4 bytes each: the
/// section of each column; the begins of each row's parts; the lengths of each row's parts. (DWARF
/// 5, 7.3.5.3.)
///
/// The hash table is read once from one end to the other, without probing: so a damaged one cannot
/// cause an endless loop.
struct PackageIndex {
    private let rows: [UInt64: Int]
    private let columns: [Section: Int]
    private let columnCount: Int
    private let starts: UnsafeRawBufferPointer
    private let sizes: UnsafeRawBufferPointer

    private enum Section {
        case info, abbreviations, stringOffsets, rangeLists

        /// nil for sections that are not read.
        init?(_ number: UInt32, version: UInt32) {
            switch (number, version) {
            case (1, _): self = .info
            case (3, _): self = .abbreviations
            case (6, _): self = .stringOffsets
            // In version 2 this number means macros.
            case (8, 5): self = .rangeLists
            default: return nil
            }
        }
    }

    /// There are 8 sections.
    private static let mostColumns = 64

    /// nil for another version, and if the index would be larger than its bytes.
    /// - Parameter bytes: must outlive the index.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var cursor = ByteCursor(bytes, at: 0)
        let word = cursor.number(UInt32.self)
        // In version 5 it has only two bytes.
        let version = word == 2 ? word : word & 0xFFFF
        let columnCount = Int(cursor.number(UInt32.self))
        let unitCount = Int(cursor.number(UInt32.self))
        let slotCount = Int(cursor.number(UInt32.self))
        guard version == 2 || version == 5, columnCount <= Self.mostColumns else { return nil }
        func next(_ size: Int) -> UnsafeRawBufferPointer {
            let start = cursor.position
            cursor.skip(size)
            return UnsafeRawBufferPointer(rebasing: bytes[start..<cursor.position])
        }
        // Each number has 32 bits, and there are few columns: nothing overflows.
        let ids = next(slotCount * 8)
        let numbers = next(slotCount * 4)
        let names = next(columnCount * 4)
        starts = next(unitCount * columnCount * 4)
        sizes = next(unitCount * columnCount * 4)
        guard !cursor.isBroken else { return nil }
        self.columnCount = columnCount
        columns = Self.columns(names, version: version)
        rows = Self.rows(ids, numbers, count: unitCount)
    }

    private static func columns(
        _ names: UnsafeRawBufferPointer, version: UInt32
    ) -> [Section: Int] {
        var result: [Section: Int] = [:]
        var cursor = ByteCursor(names, at: 0)
        for column in 0..<names.count / 4 {
            if let section = Section(cursor.number(UInt32.self), version: version) {
                result[section] = column
            }
        }
        return result
    }

    private static func rows(
        _ ids: UnsafeRawBufferPointer, _ numbers: UnsafeRawBufferPointer, count: Int
    ) -> [UInt64: Int] {
        var result: [UInt64: Int] = [:]
        var id = ByteCursor(ids, at: 0)
        var number = ByteCursor(numbers, at: 0)
        while !number.isAtEnd {
            let (id, row) = (id.number(UInt64.self), Int(number.number(UInt32.self)))
            // Rows are numbered from 1.
            if (1...max(count, 1)).contains(row), count > 0 { result[id] = row - 1 }
        }
        return result
    }

    func contains(_ id: UInt64) -> Bool { rows[id] != nil }

    /// One unit's part of a package's sections, as its `.dwo` file would have them; nil if it has
    /// none. All units share the strings.
    func sections(of id: UInt64, in package: DwarfSections) -> DwarfSections? {
        guard let row = rows[id] else { return nil }
        var result = package
        result.info = part(of: package.info, row, .info)
        result.abbreviations = part(of: package.abbreviations, row, .abbreviations)
        result.stringOffsets = part(of: package.stringOffsets, row, .stringOffsets)
        result.rangeLists = part(of: package.rangeLists, row, .rangeLists)
        return result
    }

    /// Empty if there is none, or it exceeds the section.
    private func part(
        of section: UnsafeRawBufferPointer, _ row: Int, _ kind: Section
    ) -> UnsafeRawBufferPointer {
        guard let column = columns[kind] else { return DwarfSections.nothing }
        let place = (row * columnCount + column) * 4
        guard let start = starts.number(UInt32.self, at: place).map(Int.init),
            let size = sizes.number(UInt32.self, at: place).map(Int.init),
            start <= section.count, size <= section.count - start
        else { return DwarfSections.nothing }
        return UnsafeRawBufferPointer(rebasing: section[start..<(start + size)])
    }
}
