internal import CElfutils
internal import ELF

/// The DWARF of one file: finds the unit that contains an address, and indexes a unit when it is
/// first needed.
///
/// Units are found by their own ranges. clang and swiftc do not write `.debug_aranges` by default,
/// and where it exists, it may lack units of other compilers.
final class DwarfFile {
    private let handle: OpaquePointer
    /// libdw reads from this file, so it must live as long.
    private let file: ELFFile
    /// The common file into which `dwz` moved parts of several files.
    private let alternate: DwarfFile?
    private let code: Range<UInt64>
    private let names: NameCache
    private lazy var units: [UnitRoot] = UnitRoot.all(of: handle, file)
    private lazy var map: IntervalMap = makeMap()
    private var indexed: [Int32: DwarfUnit] = [:]

    /// A file with more unit ranges, or a unit with more scopes, must be fabricated.
    static let rangeLimit = 1 << 22

    /// nil if the file has no DWARF.
    /// - Parameters:
    ///   - code: from the first to the last address of code in the module.
    ///   - names: must not outlive a file that it was used with.
    ///   - findAlternate: opens the file that `.gnu_debugaltlink` names, by name and build id.
    init?(
        _ file: ELFFile, code: Range<UInt64>, names: NameCache,
        findAlternate: (_ name: String, _ buildID: [UInt8]) -> ELFFile?
    ) {
        guard file.hasDebugInfo, let handle = DwarfHandle.open(file) else { return nil }
        self.handle = handle
        self.file = file
        self.code = code
        self.names = names
        let other = Self.alternateLink(of: handle).flatMap { findAlternate($0.name, $0.buildID) }
        alternate = other.flatMap {
            DwarfFile($0, code: code, names: names, findAlternate: { _, _ in nil })
        }
        if let alternate { dwarf_setalt(handle, alternate.handle) }
    }

    deinit {
        dwarf_end(handle)
    }

    /// The functions at an address, outermost first; empty if no unit covers it.
    func frames(at address: UInt64) -> [DwarfFrame] {
        guard let index = map[address] else { return [] }
        return unit(index).frames(at: address)
    }

    private func unit(_ index: Int32) -> DwarfUnit {
        if let known = indexed[index] { return known }
        let unit = DwarfUnit(units[Int(index)], code: code, names: names)
        indexed[index] = unit
        return unit
    }

    /// If several units claim the same function, the first counts. GNU ld keeps the first object's
    /// copy of an inline function, and points the others' debug information at it, too.
    private func makeMap() -> IntervalMap {
        var intervals: [IntervalMap.Interval] = []
        for (index, unit) in units.enumerated() {
            let limit = Self.rangeLimit - intervals.count
            guard limit > 0, let value = Int32(exactly: index) else { break }
            for range in unit.root.ranges(within: code, limit: limit) {
                intervals.append(
                    IntervalMap.Interval(
                        start: range.lowerBound, end: range.upperBound, depth: -value,
                        value: value))
            }
        }
        return IntervalMap(intervals)
    }

    private static func alternateLink(
        of handle: OpaquePointer
    ) -> (name: String, buildID: [UInt8])? {
        var name: UnsafePointer<CChar>?
        var buildID: UnsafeRawPointer?
        let length = dwelf_dwarf_gnu_debugaltlink(handle, &name, &buildID)
        guard length > 0, let name, let buildID else { return nil }
        return (
            String(cString: name), Array(UnsafeRawBufferPointer(start: buildID, count: length))
        )
    }
}

/// The root entries of a unit that has code.
struct UnitRoot {
    /// Has the ranges and the line table.
    var root: Dwarf_Die
    /// Has the functions: `root`, or with `-gsplit-dwarf` the root in the `.dwo` file.
    var tree: Dwarf_Die

    /// All compilation units, as far as the file is sound.
    static func all(of handle: OpaquePointer, _ file: ELFFile) -> [UnitRoot] {
        var result: [UnitRoot] = []
        forEach(in: handle) { unit, type, root in
            switch type {
            case DW_UT_compile: result.append(UnitRoot(root: root, tree: root))
            case DW_UT_skeleton:
                let split = DwarfHandle.splitRoot(of: unit, root: root, file)
                result.append(UnitRoot(root: root, tree: split ?? root))
            default: break
            }
            return true
        }
        return result
    }

    /// Calls `body` with each unit, its type and its root entry, until it returns false.
    static func forEach(
        in handle: OpaquePointer, _ body: (OpaquePointer, Int, Dwarf_Die) -> Bool
    ) {
        var unit: OpaquePointer?
        var type: UInt8 = 0
        var root = Dwarf_Die()
        // If it also returned the split unit's root, it would open that unit's file.
        while dwarf_get_units(handle, unit, &unit, nil, &type, &root, nil) == 0, let unit,
            body(unit, Int(type), root)
        {}
    }
}
