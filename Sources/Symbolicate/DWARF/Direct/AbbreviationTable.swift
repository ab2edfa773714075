internal import CElfutils
internal import ELF

/// An attribute in an abbreviation: its name, and how its value is encoded.
struct AttributeSpec {
    var name: UInt16
    var form: UInt16
    /// The size of its value in bytes; -1: the size is part of the value.
    var size: Int32
    /// The value of DW_FORM_implicit_const.
    var constant: Int64 = 0

    init(name: UInt64, form: UInt64, _ sizes: FormSizes) {
        self.name = UInt16(truncatingIfNeeded: name)
        self.form = UInt16(truncatingIfNeeded: form)
        size = Int32(truncatingIfNeeded: sizes.size(of: self.form))
    }
}

/// The shape of entries of one kind.
struct Abbreviation {
    /// How to treat an entry when walking a unit's tree.
    enum Role: UInt8 { case nothing, function, inlined, block, container }

    var tag: UInt16 = 0
    var role = Role.nothing
    /// False in the gaps of a table.
    var isUsed = false
    var hasChildren = false
    var hasSibling = false
    /// True if it is a class with children, which a search can skip.
    var isClass = false
    /// The total size of its attributes; -1: it depends on their values.
    var size: Int32 = 0
    var firstSpec: Int32 = 0
    var specCount: Int32 = 0
}

/// The abbreviations of a unit, decoded once.
struct AbbreviationTable {
    /// By code. Compilers number from 1.
    private(set) var dense: ContiguousArray<Abbreviation> = [Abbreviation()]
    /// Abbreviations whose codes leave larger gaps.
    private var sparse: [UInt64: Abbreviation] = [:]
    private(set) var specs: ContiguousArray<AttributeSpec> = []

    /// A larger table must be fabricated: compilers need some thousands.
    private static let most = 1 << 20
    /// Attributes of one entry. Attributes may take no bytes in the entry: without a limit, one
    /// byte could cost a million steps.
    private static let mostOfOne = 512
    private static let largestDense = 1 << 16

    subscript(code: UInt64) -> Abbreviation? {
        if code < UInt64(dense.count) {
            let found = dense[Int(code)]
            return found.isUsed ? found : nil
        }
        return sparse[code]
    }

    /// Reads the table as far as it is sound.
    init(_ bytes: UnsafeRawBufferPointer, at offset: Int, sizes: FormSizes) {
        var cursor = ByteCursor(bytes, at: offset)
        while specs.count < Self.most {
            let code = cursor.unsigned()
            guard code != 0, !cursor.isBroken else { return }
            let found = readOne(&cursor, sizes)
            guard !cursor.isBroken else { return }
            insert(found, code)
        }
    }

    /// Reads only the abbreviation with this code, which is one of the first.
    /// - Parameter effort: increased by the attributes read on the way.
    init(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, sizes: FormSizes, only wanted: UInt64,
        effort: inout Int
    ) {
        var cursor = ByteCursor(bytes, at: offset)
        for _ in 0..<Self.furthest {
            let code = cursor.unsigned()
            guard code != 0, !cursor.isBroken else { return }
            specs.removeAll(keepingCapacity: true)
            let found = readOne(&cursor, sizes)
            effort += 1 + specs.count
            guard !cursor.isBroken else { return }
            if code == wanted {
                insert(found, code)
                return
            }
        }
    }

    /// Compilers give a unit's root the first number; `dwz` numbers by frequency.
    private static let furthest = 4096

    private mutating func insert(_ found: Abbreviation, _ code: UInt64) {
        if code < UInt64(Self.largestDense) {
            while UInt64(dense.count) <= code { dense.append(Abbreviation()) }
            if !dense[Int(code)].isUsed { dense[Int(code)] = found }
        } else if sparse[code] == nil {
            sparse[code] = found
        }
    }

    private mutating func readOne(_ cursor: inout ByteCursor, _ sizes: FormSizes) -> Abbreviation {
        var result = Abbreviation()
        result.isUsed = true
        result.tag = UInt16(truncatingIfNeeded: cursor.unsigned())
        result.hasChildren = cursor.byte() != 0
        result.role = Self.role(of: Int(result.tag))
        result.firstSpec = Int32(truncatingIfNeeded: specs.count)
        var isDeclaration = false
        while specs.count - Int(result.firstSpec) < Self.mostOfOne {
            let name = cursor.unsigned()
            let form = cursor.unsigned()
            guard !cursor.isBroken, name != 0 || form != 0 else { break }
            if specs.count - Int(result.firstSpec) == Self.mostOfOne - 1 { cursor.move(to: -1) }
            var spec = AttributeSpec(name: name, form: form, sizes)
            if form == UInt64(DW_FORM_implicit_const) { spec.constant = cursor.signed() }
            if name == UInt64(DW_AT_sibling) { result.hasSibling = true }
            if name == UInt64(DW_AT_declaration) { isDeclaration = true }
            specs.append(spec)
            result.size = spec.size < 0 || result.size < 0 ? -1 : result.size &+ spec.size
        }
        result.specCount = Int32(truncatingIfNeeded: specs.count) - result.firstSpec
        result.isClass =
            result.hasChildren && result.hasSibling && Self.classes.contains(Int(result.tag))
        if isDeclaration, result.role == .function { result.role = .nothing }
        return result
    }

    private static let classes = [DW_TAG_class_type, DW_TAG_structure_type, DW_TAG_union_type]

    private static func role(of tag: Int) -> Abbreviation.Role {
        switch tag {
        case DW_TAG_subprogram: .function
        case DW_TAG_inlined_subroutine: .inlined
        case DW_TAG_lexical_block, DW_TAG_try_block, DW_TAG_catch_block, DW_TAG_with_stmt: .block
        case DW_TAG_namespace, DW_TAG_module, DW_TAG_class_type, DW_TAG_structure_type,
            DW_TAG_union_type, DW_TAG_interface_type:
            .container
        default: .nothing
        }
    }
}

/// The sizes of values that depend on the unit.
struct FormSizes: Hashable {
    /// Of an address: 8 or 4.
    var address: UInt8
    /// Of an offset into a section: 4, or 8 in DWARF's 64-bit format.
    var offset: UInt8
    /// DWARF 2 wrote DW_FORM_ref_addr as an address.
    var reference: UInt8

    /// The size of a value of this form in bytes; -1: it is part of the value.
    func size(of form: UInt16) -> Int {
        switch Int(form) {
        case DW_FORM_flag_present, DW_FORM_implicit_const: 0
        case DW_FORM_data1, DW_FORM_ref1, DW_FORM_flag, DW_FORM_strx1, DW_FORM_addrx1: 1
        case DW_FORM_data2, DW_FORM_ref2, DW_FORM_strx2, DW_FORM_addrx2: 2
        case DW_FORM_strx3, DW_FORM_addrx3: 3
        case DW_FORM_data4, DW_FORM_ref4, DW_FORM_strx4, DW_FORM_addrx4, DW_FORM_ref_sup4: 4
        case DW_FORM_data8, DW_FORM_ref8, DW_FORM_ref_sig8, DW_FORM_ref_sup8: 8
        case DW_FORM_data16: 16
        case DW_FORM_addr: Int(address)
        case DW_FORM_ref_addr: Int(reference)
        case DW_FORM_strp, DW_FORM_line_strp, DW_FORM_sec_offset, DW_FORM_strp_sup,
            DW_FORM_GNU_strp_alt, DW_FORM_GNU_ref_alt:
            Int(offset)
        default: -1
        }
    }
}
