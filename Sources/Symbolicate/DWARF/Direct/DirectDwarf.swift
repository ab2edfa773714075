internal import ELF
internal import ProfileModel

/// Answers many addresses of one file at once, on several threads.
///
/// What libdw would do for each address (it keeps every line and every entry that it meets, and
/// reads with a single thread) is done here in one pass over each unit that holds any of them.
/// What this reader does not know (files that it does not find, formats to come) is nil, and
/// libdw's.
struct DirectDwarf: Sendable {
    private let image: DwarfImage
    private let split: SplitUnits
    private let code: Range<UInt64>
    /// Whether nothing was missing that units have in other files.
    private(set) var hasAll = true
    /// Where in the file what is; grows with what is asked.
    private(set) var places: DebugPlaces
    /// Whether more is known of them than `init` was told.
    private(set) var hasLearned: Bool
    /// Asked before each unit. What is answered from then on is not all, and to be dropped.
    private let isCalledOff: @Sendable () -> Bool

    /// - Parameters:
    ///   - split: finds what the image's units have in other files.
    ///   - known: what was found out of the same files before.
    init(
        _ image: DwarfImage, _ split: SplitUnits, code: Range<UInt64>, known: DebugPlaces? = nil,
        isCalledOff: @escaping @Sendable () -> Bool = { false }
    ) {
        self.image = image
        self.split = split
        self.code = code
        self.isCalledOff = isCalledOff
        places = known ?? DebugPlaces(map: Self.makeMap(image, code: code, isCalledOff))
        hasLearned = known == nil
    }

    /// The sections that had to be unpacked: valid while this lives.
    var unpackedSections: [(name: String, bytes: UnsafeRawBufferPointer)] {
        image.unpacked + split.unpacked
    }

    /// The addresses of one unit, ascending, and where they are among those that were asked about.
    private struct Part: Sendable {
        let unit: Int
        var addresses: [UInt64] = []
        var places: [Int] = []
    }

    /// For each of the addresses, outermost first; empty where no unit covers it, nil where libdw
    /// has to be asked.
    /// - Parameters:
    ///   - addresses: ascending, each once.
    ///   - symbols: the module's, for the names of physical functions.
    mutating func frames(of addresses: [UInt64], _ symbols: SymbolIndex) -> [[SourceFrame]?] {
        var result: [[SourceFrame]?] = Array(repeating: [], count: addresses.count)
        let parts = parts(of: addresses)
        let (image, split, code) = (image, split, code)
        let (known, isCalledOff) = (places.units, isCalledOff)
        let answers = Workers.map(parts.count, makeState: { Crewmate(image, split, symbols) }) {
            mate, index in
            guard !isCalledOff() else { return Crewmate.Answer() }
            let part = parts[index]
            return mate.answer(part.addresses, part.unit, code: code, known: known[part.unit])
        }
        for (part, answer) in zip(parts, answers) {
            for (index, place) in part.places.enumerated() {
                result[place] = answer.frames.map { $0[index] }
            }
            if answer.lacksFile { hasAll = false }
            if let found = answer.places {
                places.units[part.unit] = found
                hasLearned = true
            }
        }
        return result
    }

    /// By unit, the largest first: what takes longest should not begin last.
    private func parts(of addresses: [UInt64]) -> [Part] {
        var parts: [Part] = []
        var partOfUnit: [Int32: Int] = [:]
        for (place, address) in addresses.enumerated() {
            guard let unit = places.map[address], image.units.indices.contains(Int(unit)) else {
                continue
            }
            let index = partOfUnit[unit] ?? parts.count
            if index == parts.count {
                partOfUnit[unit] = index
                parts.append(Part(unit: Int(unit)))
            }
            parts[index].addresses.append(address)
            parts[index].places.append(place)
        }
        return parts.sorted { size(of: $0) > size(of: $1) }
    }

    /// Skeletons are all of one size: of them, the number of addresses decides.
    private func size(of part: Part) -> (unit: Int, addresses: Int) {
        let header = image.units[part.unit]
        return (header.end - header.start, part.addresses.count)
    }

    /// Of units that claim the same function the first counts: GNU ld keeps the first object's
    /// copy of an inline function and points the others' debug information at it, too.
    private static func makeMap(
        _ image: DwarfImage, code: Range<UInt64>, _ isCalledOff: () -> Bool
    ) -> IntervalMap {
        var intervals: [IntervalMap.Interval] = []
        var budget = DwarfFile.rangeLimit
        var effort = 0
        for (index, header) in image.units.enumerated() where effort < EntryReader.mostEffort {
            guard !isCalledOff() else { break }
            guard header.hasCode, let unit = UnitReader(image, header, effort: &effort),
                let value = Int32(exactly: index)
            else { continue }
            unit.forEachRange(
                low: unit.root.lowAddress, high: unit.root.highAddress, list: unit.root.ranges,
                within: code, budget: &budget
            ) {
                intervals.append(
                    IntervalMap.Interval(
                        start: $0.lowerBound, end: $0.upperBound, depth: -value, value: value))
            }
        }
        return IntervalMap(intervals)
    }
}

/// What a thread keeps from one unit to the next.
private struct Crewmate {
    private let image: DwarfImage
    private let split: SplitUnits
    private let entries: EntryReader
    private let names = NameCache()
    private let symbols: SymbolIndex
    /// Attributes that were read in all, beside those that `entries` counts.
    private var effort = 0

    init(_ image: DwarfImage, _ split: SplitUnits, _ symbols: SymbolIndex) {
        self.image = image
        self.split = split
        self.symbols = symbols
        entries = EntryReader(image)
    }

    struct Answer {
        /// nil where libdw has to be asked.
        var frames: [[SourceFrame]]?
        /// Where things are in the unit, if that is worth keeping and was not known.
        var places: UnitPlaces?
        /// Whether the file was not found that has the rest of the unit.
        var lacksFile = false
    }

    mutating func answer(
        _ addresses: [UInt64], _ unit: Int, code: Range<UInt64>, known: UnitPlaces?
    ) -> Answer {
        guard let unit = UnitReader(image, image.units[unit], effort: &effort) else {
            return Answer()
        }
        let wanted = WantedAddresses(sorted: addresses[...])
        if unit.isSplit, let half = split.half(of: unit, effort: &effort) {
            return answer(half, wanted, code: code, known: known)
        }
        let answers = UnitAnswers(
            unit, wanted, code: code, entries: entries, names: names, symbols: symbols,
            known: unit.isSplit ? nil : known)
        var result = answer(wanted, answers)
        // What the skeleton tells: lines, and the symbols' names.
        result.lacksFile = unit.isSplit
        return result
    }

    private mutating func answer(
        _ half: SplitHalf, _ wanted: WantedAddresses, code: Range<UInt64>, known: UnitPlaces?
    ) -> Answer {
        let entries = EntryReader(half.unit.image, effort: effort)
        // What is kept of a name is where it is: a file that is closed now must leave nothing.
        let answers = UnitAnswers(
            half.unit, wanted, code: code, entries: entries,
            names: half.ownFile == nil ? names : NameCache(), symbols: symbols,
            known: half.ownFile == nil ? known : nil)
        var result = answer(wanted, answers)
        effort = entries.effort
        if let file = half.ownFile {
            result.places = nil
            if file.wasCutShort { result = Answer(lacksFile: true) }
        }
        return result
    }

    private func answer(_ wanted: WantedAddresses, _ answers: UnitAnswers) -> Answer {
        let frames = answers.frames(of: wanted)
        return Answer(frames: frames, places: answers.isLarge ? answers.places : nil)
    }
}
