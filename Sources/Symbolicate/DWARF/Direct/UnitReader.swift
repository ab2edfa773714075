internal import CElfutils
internal import ELF

// Raw memory: texts lie in the sections of the `DwarfImage`, and are valid while it lives.

/// The content of a unit's root entry; the other entries cannot be read without it.
struct UnitRootEntry {
    var lowAddress = AttributeValue()
    var highAddress = AttributeValue()
    var ranges = AttributeValue()
    var lineTable = AttributeValue()
    var folder = AttributeValue()
    var producer = AttributeValue()
    var language: UInt64 = 0
    var isMarkedOptimized = false
    /// The file that contains its functions (`.dwo`).
    var splitName = AttributeValue()
    /// The id that it shares with the unit in that file (DWARF 4).
    var splitID: UInt64?
    var stringOffsetsBase = 0
    var addressBase = 0
    var rangeListsBase = 0
    /// The base of the split unit's ranges (DWARF 4).
    var splitRangesBase = 0
    /// The base of range lists.
    var base: UInt64 = 0

    fileprivate init(_ header: UnitHeader, _ skeleton: UnitRootEntry?) {
        // In each section, the first table begins after its header; DWARF 4 has no header.
        if header.version >= 5 {
            let isLong = header.sizes.offset == 8
            stringOffsetsBase = isLong ? 16 : 8
            addressBase = isLong ? 16 : 8
            rangeListsBase = isLong ? 20 : 12
        }
        if let skeleton { addressBase = skeleton.addressBase }
    }
}

/// One unit: reads its root, and the meaning of attributes' values in it.
final class UnitReader {
    let image: DwarfImage
    let header: UnitHeader
    private(set) var root: UnitRootEntry
    /// The unit in the program from which this one was split off. It has the line table, and the
    /// addresses.
    let skeleton: UnitReader?

    /// nil if the unit cannot be read here.
    /// - Parameter effort: increased by the number of attributes read.
    init?(
        _ image: DwarfImage, _ header: UnitHeader, effort: inout Int, skeleton: UnitReader? = nil
    ) {
        guard header.isReadable else { return nil }
        self.image = image
        self.header = header
        self.skeleton = skeleton
        root = UnitRootEntry(header, skeleton?.root)
        var cursor = ByteCursor(image.sections.info, at: header.firstEntry, end: header.end)
        let code = cursor.unsigned()
        let table = AbbreviationTable(
            image.sections.abbreviations, at: header.abbreviations, sizes: header.sizes, only: code,
            effort: &effort)
        guard code != 0, let abbreviation = table[code] else { return nil }
        for index in 0..<Int(abbreviation.specCount) {
            let spec = table.specs[Int(abbreviation.firstSpec) + index]
            note(Int(spec.name), cursor.value(spec, header.sizes))
        }
        guard !cursor.isBroken, Int(abbreviation.tag) != DW_TAG_type_unit else { return nil }
        root.base = address(root.lowAddress) ?? skeleton?.root.base ?? 0
    }

    private func note(_ name: Int, _ value: AttributeValue) {
        switch name {
        case DW_AT_low_pc: root.lowAddress = value
        case DW_AT_high_pc: root.highAddress = value
        case DW_AT_ranges: root.ranges = value
        case DW_AT_stmt_list: root.lineTable = value
        case DW_AT_comp_dir: root.folder = value
        case DW_AT_producer: root.producer = value
        case DW_AT_language: root.language = value.number
        case DW_AT_dwo_name, DW_AT_GNU_dwo_name: root.splitName = value
        case DW_AT_GNU_dwo_id: root.splitID = value.number
        case DW_AT_str_offsets_base: root.stringOffsetsBase = Int(clamping: value.number)
        case DW_AT_addr_base, DW_AT_GNU_addr_base: root.addressBase = Int(clamping: value.number)
        case DW_AT_GNU_ranges_base: root.splitRangesBase = Int(clamping: value.number)
        case DW_AT_rnglists_base: root.rangeListsBase = Int(clamping: value.number)
        case ProducerText.appleOptimized: root.isMarkedOptimized = true
        default: break
        }
    }

    // MARK: - The meaning of values

    func address(_ value: AttributeValue) -> UInt64? {
        switch Int(value.form) {
        case DW_FORM_addr: return value.number
        case DW_FORM_addrx, DW_FORM_addrx1, DW_FORM_addrx2, DW_FORM_addrx3, DW_FORM_addrx4,
            DW_FORM_GNU_addr_index:
            return address(at: value.number)
        default: return nil
        }
    }

    /// The unit's address with this number in `.debug_addr`.
    func address(at index: UInt64) -> UInt64? {
        element(
            index, of: image.sections.addresses, base: root.addressBase,
            size: Int(header.sizes.address))
    }

    /// An end: an address, or a distance from the start.
    func end(_ value: AttributeValue, from start: UInt64) -> UInt64? {
        guard value.isThere else { return nil }
        if let end = address(value) { return end }
        let (end, overflows) = start.addingReportingOverflow(value.number)
        return overflows ? nil : end
    }

    func text(_ value: AttributeValue) -> UnsafeRawBufferPointer? {
        guard let offset = Int(exactly: value.number) else { return nil }
        switch Int(value.form) {
        case DW_FORM_string: return Self.text(in: image.sections.info, at: offset)
        case DW_FORM_strp: return Self.text(in: image.sections.strings, at: offset)
        case DW_FORM_line_strp: return Self.text(in: image.sections.lineStrings, at: offset)
        case DW_FORM_strp_sup, DW_FORM_GNU_strp_alt:
            return image.alternate.flatMap { Self.text(in: $0.sections.strings, at: offset) }
        case DW_FORM_strx, DW_FORM_strx1, DW_FORM_strx2, DW_FORM_strx3, DW_FORM_strx4,
            DW_FORM_GNU_str_index:
            let place = element(
                value.number, of: image.sections.stringOffsets, base: root.stringOffsetsBase,
                size: Int(header.sizes.offset))
            return place.flatMap { Int(exactly: $0) }.flatMap {
                Self.text(in: image.sections.strings, at: $0)
            }
        default: return nil
        }
    }

    /// Longer texts are cut: no shown name is that long.
    private static let longestText = 1 << 18

    static func text(
        in bytes: UnsafeRawBufferPointer, at offset: Int
    ) -> UnsafeRawBufferPointer? {
        guard bytes.indices.contains(offset) else { return nil }
        let end = min(bytes.count, offset + longestText)
        let window = UnsafeRawBufferPointer(rebasing: bytes[offset..<end])
        return window.text(at: 0) ?? (end < bytes.count ? window : nil)
    }

    /// Where a reference leads; nil for references to types' signatures.
    func target(_ value: AttributeValue) -> (image: DwarfImage, offset: Int)? {
        guard let number = Int(exactly: value.number) else { return nil }
        switch Int(value.form) {
        case DW_FORM_ref1, DW_FORM_ref2, DW_FORM_ref4, DW_FORM_ref8, DW_FORM_ref_udata:
            let offset = header.start.addingReportingOverflow(number)
            guard !offset.overflow, offset.partialValue < header.end else { return nil }
            return (image, offset.partialValue)
        case DW_FORM_ref_addr: return (image, number)
        case DW_FORM_GNU_ref_alt, DW_FORM_ref_sup4, DW_FORM_ref_sup8:
            return image.alternate.map { ($0, number) }
        default: return nil
        }
    }

    func element(
        _ index: UInt64, of table: UnsafeRawBufferPointer, base: Int, size: Int
    ) -> UInt64? {
        let distance = index.multipliedReportingOverflow(by: UInt64(size))
        guard !distance.overflow, let distance = Int(exactly: distance.partialValue) else {
            return nil
        }
        let place = base.addingReportingOverflow(distance)
        guard !place.overflow else { return nil }
        return size == 8
            ? table.number(UInt64.self, at: place.partialValue)
            : table.number(UInt32.self, at: place.partialValue).map(UInt64.init)
    }

    // MARK: - The root's facts

    /// True if its functions are in another file.
    var isSplit: Bool { root.splitName.isThere || Int(header.kind) == DW_UT_skeleton }

    /// The id that a skeleton shares with its split unit; nil for other units.
    var splitID: UInt64? { header.splitID ?? root.splitID }

    /// The name of the file that contains its functions.
    var splitName: String? {
        text(root.splitName).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The folder in which the compiler was run.
    var folder: String? {
        text(root.folder).map { String(decoding: $0, as: UTF8.self) }
    }

    /// True for languages in which no function is declared inside another entity.
    var isC: Bool {
        [DW_LANG_C89, DW_LANG_C, DW_LANG_C99, DW_LANG_C11].contains(Int(root.language))
    }

    /// True if functions with code are outside the entries of classes in its language.
    var isCPlusPlus: Bool {
        [
            DW_LANG_C_plus_plus, DW_LANG_C_plus_plus_03, DW_LANG_C_plus_plus_11,
            DW_LANG_C_plus_plus_14,
        ].contains(Int(root.language))
    }

    var isUnoptimized: Bool {
        guard let text = text(root.producer) else { return false }
        let producer = ProducerText(
            String(decoding: text.prefix(ProducerText.longest), as: UTF8.self),
            isMarkedOptimized: root.isMarkedOptimized)
        return producer.isUnoptimized
    }
}
