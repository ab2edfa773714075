internal import CElfutils
internal import ELF

// Raw memory: texts lie in the sections of the `DwarfImage`s, and are valid while these live.

/// The attributes of an entry for its function, or for the function that it is an instance of.
struct EntryAttributes {
    var linkageName: UnsafeRawBufferPointer?
    var name: UnsafeRawBufferPointer?
    var origin = AttributeValue()
    var specification = AttributeValue()
    var callFile = AttributeValue()
    var callLine = AttributeValue()
}

/// An entry of one of the open files.
struct EntryPlace: Hashable {
    /// True if the entry is in the common file of `dwz`.
    var isAlternate: Bool
    var offset: Int
}

/// The name of an entry, from the entry itself and the entries that it refers to.
struct EntryName {
    var linkageName: UnsafeRawBufferPointer?
    var name: UnsafeRawBufferPointer?
    /// The entry that declares it: the entry itself if there is no other.
    var declaration: EntryPlace

    init(
        linkageName: UnsafeRawBufferPointer? = nil, name: UnsafeRawBufferPointer? = nil,
        declaration: EntryPlace
    ) {
        self.linkageName = linkageName
        self.name = name
        self.declaration = declaration
    }

    var symbol: UnsafeRawBufferPointer? { linkageName ?? name }
}

/// Reads single entries of any unit. For one thread.
final class EntryReader {
    private let image: DwarfImage
    private var tables: [TableKey: AbbreviationTable] = [:]
    private var readers: [EntryPlace: UnitReader] = [:]
    private var held = 0
    /// All attributes read so far.
    private(set) var effort: Int

    private struct TableKey: Hashable {
        var isAlternate: Bool
        var offset: Int
        var sizes: FormSizes
    }

    /// How many units' tables are kept at once.
    private static let mostUnits = 64
    /// How many attributes of abbreviations are kept at once: units may share a large table piece
    /// by piece.
    private static let mostHeld = 1 << 20
    /// A file that needs more attributes than this was made to keep us busy: for a file of 100 MB,
    /// some million are read.
    static let mostEffort = 1 << 28

    /// - Parameter effort: attributes that were read before in other files.
    init(_ image: DwarfImage, effort: Int = 0) {
        self.image = image
        self.effort = effort
    }

    /// The abbreviations of a unit.
    func table(of unit: UnitReader) -> AbbreviationTable {
        let key = TableKey(
            isAlternate: unit.image !== image, offset: unit.header.abbreviations,
            sizes: unit.header.sizes)
        if let known = tables[key] { return known }
        let isSpent = effort > Self.mostEffort
        let table = AbbreviationTable(
            unit.image.sections.abbreviations, at: isSpent ? -1 : key.offset, sizes: key.sizes)
        effort += table.specs.count
        held += table.specs.count
        if held > Self.mostHeld || tables.count >= Self.mostUnits {
            tables.removeAll()
            held = table.specs.count
        }
        tables[key] = table
        return table
    }

    /// The entry at an offset of the unit's `.debug_info`.
    func attributes(at offset: Int, in unit: UnitReader) -> EntryAttributes? {
        var cursor = ByteCursor(unit.image.sections.info, at: offset, end: unit.header.end)
        let table = table(of: unit)
        guard effort < Self.mostEffort, let abbreviation = table[cursor.unsigned()] else {
            return nil
        }
        effort += Int(abbreviation.specCount)
        var result = EntryAttributes()
        let first = Int(abbreviation.firstSpec)
        for index in first..<(first + Int(abbreviation.specCount)) {
            let spec = table.specs[index]
            switch Int(spec.name) {
            case DW_AT_linkage_name, DW_AT_MIPS_linkage_name:
                result.linkageName = unit.text(cursor.value(spec, unit.header.sizes))
            case DW_AT_name: result.name = unit.text(cursor.value(spec, unit.header.sizes))
            case DW_AT_abstract_origin: result.origin = cursor.value(spec, unit.header.sizes)
            case DW_AT_specification: result.specification = cursor.value(spec, unit.header.sizes)
            case DW_AT_call_file: result.callFile = cursor.value(spec, unit.header.sizes)
            case DW_AT_call_line: result.callLine = cursor.value(spec, unit.header.sizes)
            default: cursor.skip(spec, unit.header.sizes)
            }
        }
        return cursor.isBroken ? nil : result
    }

    /// The unit that contains a place; nil if there is none that we can read.
    func unit(holding place: EntryPlace) -> UnitReader? {
        guard let image = place.isAlternate ? image.alternate : image,
            let index = image.unit(holding: place.offset)
        else { return nil }
        let key = EntryPlace(isAlternate: place.isAlternate, offset: index)
        if let known = readers[key] { return known }
        guard effort < Self.mostEffort,
            let reader = UnitReader(image, image.units[index], effort: &effort)
        else { return nil }
        if readers.count >= Self.mostUnits { readers.removeAll() }
        readers[key] = reader
        return reader
    }

    /// Follows references to the entries that this one is an instance or the definition of. Chains
    /// longer than 16 are cut: they may be cycles.
    func name(of entry: EntryAttributes, at place: EntryPlace, in unit: UnitReader) -> EntryName {
        var result = EntryName(
            linkageName: entry.linkageName, name: entry.name, declaration: place)
        var (entry, unit) = (entry, unit)
        for _ in 0..<16 {
            let value = entry.origin.isThere ? entry.origin : entry.specification
            guard let next = self.place(value, in: unit),
                let nextUnit = self.unit(next, near: unit),
                let nextEntry = attributes(at: next.offset, in: nextUnit)
            else { break }
            (entry, unit) = (nextEntry, nextUnit)
            result.declaration = next
            if result.linkageName == nil { result.linkageName = entry.linkageName }
            if result.name == nil { result.name = entry.name }
        }
        return result
    }

    /// The place that a reference leads to.
    func place(_ value: AttributeValue, in unit: UnitReader) -> EntryPlace? {
        guard value.isThere, let target = unit.target(value) else { return nil }
        return EntryPlace(isAlternate: target.image !== image, offset: target.offset)
    }

    private func unit(_ place: EntryPlace, near unit: UnitReader) -> UnitReader? {
        let isSame = place.isAlternate == (unit.image !== image)
        if isSame, (unit.header.firstEntry..<unit.header.end).contains(place.offset) { return unit }
        return self.unit(holding: place)
    }
}
