internal import CElfutils
package import ELF
internal import Glibc
internal import ProfileModel

/// A module's code according to its files: functions by name, their extents, and probes.
package final class ModuleCode {
    package struct Function: Hashable, Sendable {
        /// The linkage name.
        package var name: String
        /// In the module's own (ELF) address space.
        package var range: Range<UInt64>
        /// True if its code is chosen when the program is relocated (STT_GNU_IFUNC).
        package var isIndirect: Bool
    }

    /// A function without its name, which is read only when needed: few of a hundred thousand are.
    private struct Place {
        var range: Range<UInt64>
        var table: Int
        var index: Int

        var order: (UInt64, UInt64, Int, Int) {
            (range.lowerBound, range.upperBound, table, index)
        }
    }

    private let tables: [ELFSymbolTable]
    private let file: ELFFile
    private let separate: ELFFile?
    private let sections: CodeSections
    private let stubs: [Range<UInt64>]
    /// A larger function must be fabricated by an attacker.
    private static let longestFunction: UInt64 = 1 << 20

    /// Ascending addresses where code symbols, and functions of the unwind table, begin.
    package private(set) lazy var borders: [UInt64] = makeBorders()

    /// All functions and parts of functions, ascending, each address and length once.
    private lazy var places: [Place] = makePlaces()
    private lazy var starts = places.map(\.range.lowerBound)

    /// - Parameters:
    ///   - path: where the file is now.
    ///   - name: where the program found it; the separate file of symbols is searched by this name.
    package init(
        path: String, name: String, search: DebugFileSearch = DebugFileSearch()
    ) throws(ELFFileError) {
        file = try ELFFile(path: path)
        separate =
            file.hasSymbolTable
            ? nil : search.find(for: name, buildID: file.buildID, link: file.debugLink)?.file
        tables = ([file, separate].compactMap { $0 }).flatMap(\.symbolTables)
        sections = CodeSections(file.sections)
        stubs = file.sections.filter { $0.isCode && $0.name.hasPrefix(".plt") }.map {
            $0.address..<$0.end
        }
    }

    /// The functions with this name, each address once.
    package func functions(named text: String) -> [Function] {
        let name = FunctionName(text)
        var found: [UInt64: Function] = [:]
        forEachFunction { entry, symbol, _, _ in
            guard found[entry.address] == nil, name.matches(symbol),
                let range = extent(of: entry)
            else { return }
            found[entry.address] = Self.function(entry, symbol, range)
        }
        return found.values.sorted { $0.range.lowerBound < $1.range.lowerBound }
    }

    /// The functions, and parts of functions, that contain an address.
    package func parts(around address: UInt64) -> [Function] {
        let next = starts.partitionIndex { $0 > address }
        // Few functions are inside another one.
        return places[max(0, next - 64)..<next].filter { $0.range.contains(address) }
            .compactMap(function)
    }

    private func function(at place: Place) -> Function? {
        let table = tables[place.table]
        guard let entry = table.entry(place.index), let name = table.name(at: entry.name)
        else { return nil }
        return Self.function(entry, name, place.range)
    }

    private static func function(
        _ entry: ELFSymbolTable.Entry, _ name: UnsafeRawBufferPointer, _ range: Range<UInt64>
    ) -> Function {
        Function(
            name: String(decoding: name, as: UTF8.self), range: range,
            isIndirect: Int32(entry.type) == STT_GNU_IFUNC)
    }

    /// The bytes of a range of code; nil if the file has none.
    package func bytes(_ range: Range<UInt64>) -> [UInt8]? {
        let index = file.sections.firstIndex {
            $0.isCode && !$0.isEmptyOnDisk && $0.address <= range.lowerBound
                && range.upperBound <= $0.end
        }
        guard let index else { return nil }
        let bytes = file.bytes(ofSection: index)
        let start = Int(range.lowerBound - file.sections[index].address)
        guard start + range.count <= bytes.count else { return nil }
        return Array(bytes[start..<(start + range.count)])
    }

    package var probes: [ProbeSite] { file.probeSites }

    package var needs: LibraryNeeds { file.needs }

    /// The bytes at an address once the file is mapped, before relocation; fewer if the file has no
    /// more.
    package func mapped(at address: UInt64, count: Int) -> [UInt8] {
        file.mapped(at: address, count: count)
    }

    /// True if an address is in a stub through which other modules are called.
    package func isStub(_ address: UInt64) -> Bool { stubs.contains { $0.contains(address) } }

    /// The range from the last border before an address to the next one after it.
    package func stretch(around address: UInt64) -> Range<UInt64>? {
        guard let section = sections.section(holding: address) else { return nil }
        let next = borders.partitionIndex { $0 > address }
        let start = next > 0 ? borders[next - 1] : section.lowerBound
        let end = min(next < borders.count ? borders[next] : .max, section.upperBound)
        guard start >= section.lowerBound, end - start <= Self.longestFunction else { return nil }
        return start..<end
    }

    /// The first border at or after an address, or the section's end.
    package func border(from address: UInt64) -> UInt64 {
        let next = borders.partitionIndex { $0 > address &- 1 }
        let section = sections.section(holding: address &- 1)?.upperBound ?? address
        return min(next < borders.count ? borders[next] : .max, section)
    }

    /// The borders within a range.
    package func borders(in range: ClosedRange<UInt64>) -> ArraySlice<UInt64> {
        let start = borders.partitionIndex { $0 > range.lowerBound &- 1 }
        return borders[start...].prefix { range.contains($0) }
    }

    /// - Parameter body: receives the entry, its name, its table and its position there.
    private func forEachFunction(
        _ body: (ELFSymbolTable.Entry, UnsafeRawBufferPointer, Int, Int) -> Void
    ) {
        for (number, table) in tables.enumerated() {
            for index in 1..<max(table.count, 1) {
                guard let entry = table.entry(index), entry.isDefined,
                    Self.isFunction(entry), let name = table.name(at: entry.name)
                else { continue }
                body(entry, name, number, index)
            }
        }
    }

    private static func isFunction(_ entry: ELFSymbolTable.Entry) -> Bool {
        entry.type == UInt8(STT_FUNC) || entry.type == UInt8(STT_GNU_IFUNC)
    }

    private func extent(of entry: ELFSymbolTable.Entry) -> Range<UInt64>? {
        let start = entry.address
        guard let section = sections.section(holding: start) else { return nil }
        let (end, overflows) = start.addingReportingOverflow(entry.size)
        guard !overflows, end <= section.upperBound else { return nil }
        let last = end > start ? end : border(from: start &+ 1)
        return last - start <= Self.longestFunction ? start..<last : nil
    }

    private func makePlaces() -> [Place] {
        var all: [Place] = []
        forEachFunction { entry, _, table, index in
            if let range = extent(of: entry) {
                all.append(Place(range: range, table: table, index: index))
            }
        }
        // Among several names, the first one stays.
        all.sort { $0.order < $1.order }
        return all.withoutRepetitions(by: \.range)
    }

    private func makeBorders() -> [UInt64] {
        var all = file.functionStarts
        for (number, table) in tables.enumerated().prefix(Int(UInt16.max)) {
            for index in 1..<max(table.count, 1) {
                guard let entry = table.entry(index),
                    let symbol = ELFSymbol(entry, table: number),
                    sections.section(holding: symbol.start) != nil
                else { continue }
                all.append(symbol.start)
            }
        }
        all.sort()
        return all.withoutRepetitions(by: \.self)
    }
}

extension Array {
    /// Among neighbours with the same value, the first.
    fileprivate func withoutRepetitions<Value: Equatable>(
        by value: (Element) -> Value
    ) -> [Element] {
        var result: [Element] = []
        result.reserveCapacity(count)
        for element in self where result.last.map(value) != value(element) {
            result.append(element)
        }
        return result
    }
}
