internal import CElfutils
internal import Glibc

// Raw memory: returned texts are in the mapped file, and valid while the `DwarfFile` lives.

extension Dwarf_Die {
    /// The entry's position: unique among all entries of the open files, and ascending in the order
    /// of the tree.
    var position: UInt { UInt(bitPattern: addr) }

    var tag: Int {
        var die = self
        return Int(dwarf_tag(&die))
    }

    /// The first entry below this one.
    var firstChild: Dwarf_Die? {
        var die = self
        var child = Dwarf_Die()
        return dwarf_child(&die, &child) == 0 ? child : nil
    }

    var nextSibling: Dwarf_Die? {
        var die = self
        var sibling = Dwarf_Die()
        return dwarf_siblingof(&die, &sibling) == 0 ? sibling : nil
    }

    func has(_ attribute: Int) -> Bool {
        var die = self
        return dwarf_hasattr(&die, UInt32(attribute)) != 0
    }

    /// A number of this entry itself; nil if it has no such attribute, or a negative one.
    func number(_ attribute: Int) -> UInt64? {
        var die = self
        var value = Dwarf_Attribute()
        var number: Dwarf_Word = 0
        guard dwarf_attr(&die, UInt32(attribute), &value) != nil,
            dwarf_formudata(&value, &number) == 0
        else { return nil }
        return number
    }

    /// A text of this entry, or of the entry that it is an instance or the definition of. (libdw's
    /// own function would open files of split units for this.)
    func text(_ attribute: Int) -> UnsafePointer<CChar>? {
        var die = self
        var value = Dwarf_Attribute()
        for _ in 0..<Self.longestChain {
            if dwarf_attr(&die, UInt32(attribute), &value) != nil {
                return dwarf_formstring(&value)
            }
            guard let next = die.origin else { break }
            die = next
        }
        return nil
    }

    /// The mangled name; nil if there is none (C, and functions that other files cannot refer to).
    var linkageName: UnsafeRawBufferPointer? {
        (text(DW_AT_linkage_name) ?? text(DW_AT_MIPS_linkage_name)).map { start in
            UnsafeRawBufferPointer(start: start, count: strlen(start))
        }
    }

    /// The entry that declares the entity of which this one is an instance or the definition; this
    /// entry if there is no other.
    var declaration: Dwarf_Die {
        var result = self
        for _ in 0..<Self.longestChain {
            guard let next = result.origin else { break }
            result = next
        }
        return result
    }

    /// Longer chains are cut: they may be cycles.
    private static var longestChain: Int { 16 }

    private var origin: Dwarf_Die? {
        target(DW_AT_abstract_origin) ?? target(DW_AT_specification)
    }

    private func target(_ attribute: Int) -> Dwarf_Die? {
        var die = self
        var value = Dwarf_Attribute()
        var target = Dwarf_Die()
        guard dwarf_attr(&die, UInt32(attribute), &value) != nil,
            dwarf_formref_die(&value, &target) != nil
        else { return nil }
        return target
    }

    /// The address ranges of the entry, at most `limit`. Ranges that start outside `code` are left
    /// out: linkers give dropped functions an address near 0.
    func ranges(within code: Range<UInt64>, limit: Int) -> [Range<UInt64>] {
        var die = self
        var result: [Range<UInt64>] = []
        var base: Dwarf_Addr = 0
        var start: Dwarf_Addr = 0
        var end: Dwarf_Addr = 0
        var state = dwarf_ranges(&die, 0, &base, &start, &end)
        var steps = 0
        while state > 0, steps < limit {
            if start < end, code.contains(start) { result.append(start..<end) }
            state = dwarf_ranges(&die, state, &base, &start, &end)
            steps += 1
        }
        return result
    }
}
