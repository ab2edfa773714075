internal import ELF

// Raw memory: the package's sections are in its file, which lives as long as this.

/// Finds the parts of units that are in other files (`-gsplit-dwarf`): in the package, or else in
/// the `.dwo` file that the unit names.
///
/// Threads share it: it never changes.
struct SplitUnits: @unchecked Sendable {
    private let package: Package?
    private let search: SplitFileSearch

    private struct Package {
        var file: ELFFile
        var index: PackageIndex
        var sections: DwarfSections
        var unpacked: [(name: String, bytes: UnsafeRawBufferPointer)]
        var known: UnpackedSections?

        init(_ package: DebugPackage, _ known: UnpackedSections?) {
            var reader = SectionReader(package.file, known: known)
            file = package.file
            index = package.index
            sections = DwarfSections(splitOff: &reader)
            unpacked = reader.unpacked
            self.known = known
        }
    }

    /// - Parameters:
    ///   - search: where to look for `.dwo` files.
    ///   - known: sections of the package that were unpacked before.
    init(_ package: DebugPackage?, search: SplitFileSearch, known: UnpackedSections? = nil) {
        self.package = package.map { Package($0, known) }
        self.search = search
    }

    /// The package's sections that had to be unpacked, by name.
    var unpacked: [(name: String, bytes: UnsafeRawBufferPointer)] { package?.unpacked ?? [] }

    /// The other part of a skeleton; nil if it is not found, or cannot be read here.
    /// - Parameter effort: increased by the number of attributes read.
    func half(of skeleton: UnitReader, effort: inout Int) -> SplitHalf? {
        guard let id = skeleton.splitID else { return nil }
        if let unit = packedUnit(id, of: skeleton, effort: &effort) {
            return SplitHalf(unit: unit, ownFile: nil)
        }
        guard let name = skeleton.splitName else { return nil }
        for path in search.candidates(name, compiledIn: skeleton.folder) {
            guard let file = try? ELFFile(path: path) else { continue }
            var reader = SectionReader(file)
            let sections = Self.joined(DwarfSections(splitOff: &reader), skeleton)
            let image = DwarfImage(split: sections, of: file, known: nil, most: Self.mostUnits)
            if let unit = image.flatMap({ Self.unit(id, of: skeleton, in: $0, effort: &effort) }) {
                return SplitHalf(unit: unit, ownFile: file)
            }
        }
        return nil
    }

    /// A `.dwo` file has several units only if they were compiled as one (LTO).
    private static let mostUnits = 1 << 16

    private func packedUnit(
        _ id: UInt64, of skeleton: UnitReader, effort: inout Int
    ) -> UnitReader? {
        guard let package, let part = package.index.sections(of: id, in: package.sections),
            let image = DwarfImage(
                split: Self.joined(part, skeleton), of: package.file, known: package.known, most: 1)
        else { return nil }
        return Self.unit(id, of: skeleton, in: image, effort: &effort)
    }

    /// The other part refers to these sections of the program.
    private static func joined(_ sections: DwarfSections, _ skeleton: UnitReader) -> DwarfSections {
        var result = sections
        result.addresses = skeleton.image.sections.addresses
        result.ranges = skeleton.image.sections.ranges
        return result
    }

    private static func unit(
        _ id: UInt64, of skeleton: UnitReader, in image: DwarfImage, effort: inout Int
    ) -> UnitReader? {
        for header in image.units where header.isSplitHalf && header.splitID ?? id == id {
            guard effort < EntryReader.mostEffort else { break }
            let unit = UnitReader(image, header, effort: &effort, skeleton: skeleton)
            if let unit, unit.splitID == id { return unit }
        }
        return nil
    }
}

/// The part of a skeleton's unit in another file.
struct SplitHalf {
    let unit: UnitReader
    /// The `.dwo` file, which may be closed after use of the unit; nil: the unit is in the package.
    let ownFile: ELFFile?
}
