internal import CElfutils
internal import Glibc

// Raw memory: texts that these functions return lie in the mapped file and are valid while the
// `DwarfFile` lives.

extension Dwarf_Die {
    /// The entry's position: unique among all entries of the open files, and increasing in the
    /// order of the tree.
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

    /// The next entry beside this one.
    var nextSibling: Dwarf_Die? {
        var die = self
        var sibling = Dwarf_Die()
        return dwarf_siblingof(&die, &sibling) == 0 ? sibling : nil
    }

    func has(_ attribute: Int) -> Bool {
        var die = self
        return dwarf_hasattr(&die, UInt32(attribute)) != 0
    }

    /// A number of this very entry; nil when it has no such attribute or a negative one.
    func number(_ attribute: Int) -> UInt64? {
        var die = self
        var value = Dwarf_Attribute()
        var number: Dwarf_Word = 0
        guard dwarf_attr(&die, UInt32(attribute), &value) != nil,
            dwarf_formudata(&value, &number) == 0
        else { return nil }
        return number
    }

    /// Text of this entry or of the one that it is an instance or the definition of.
    func text(_ attribute: Int) -> UnsafePointer<CChar>? {
        var die = self
        var value = Dwarf_Attribute()
        guard dwarf_attr_integrate(&die, UInt32(attribute), &value) != nil else { return nil }
        return dwarf_formstring(&value)
    }

    /// The mangled name; nil when there is none (C, and what other files cannot refer to).
    var linkageName: UnsafeRawBufferPointer? {
        (text(DW_AT_linkage_name) ?? text(DW_AT_MIPS_linkage_name)).map { start in
            UnsafeRawBufferPointer(start: start, count: strlen(start))
        }
    }

    /// The entry that declares what this one is an instance or the definition of; itself when
    /// there is no other. Chains longer than 16 are cut: they may be cycles.
    var declaration: Dwarf_Die {
        var result = self
        for _ in 0..<16 {
            let origin = result.target(DW_AT_abstract_origin)
            guard let next = origin ?? result.target(DW_AT_specification) else { break }
            result = next
        }
        return result
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

    /// The ranges of addresses that the entry covers, at most `limit` of them. Those that start
    /// outside of `code` are left out: linkers give the ranges of functions that they dropped an
    /// address near 0.
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
