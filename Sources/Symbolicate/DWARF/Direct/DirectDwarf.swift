internal import ELF
internal import ProfileModel

/// Looks up many addresses of one file at once, on several threads.
///
/// libdw would treat each address alone: it keeps every line and every entry that it meets, and
/// reads with a single thread. This reader makes one pass over each unit that contains any of the
/// addresses. If it does not know an answer (missing files, future formats), it returns nil, and
/// libdw is asked.
struct DirectDwarf: Sendable {
    private let image: DwarfImage
    private let split: SplitUnits
    private let code: Range<UInt64>
    /// True if all files that units refer to were found.
    private(set) var hasAll = true
    /// The known places in the file; each question adds some.
    private(set) var places: DebugPlaces
    /// True if `places` contains more than `init` received.
    private(set) var hasLearned: Bool
    /// Asked before each unit. Once true, answers are incomplete and must be dropped.
    private let isCalledOff: @Sendable () -> Bool

    /// - Parameters:
    ///   - split: finds the parts of units that are in other files.
    ///   - known: the places that were found earlier in the same files.
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

    /// The addresses in one unit, ascending, and their positions in the question.
    private struct Part: Sendable {
        let unit: Int
        var addresses: [UInt64] = []
        var places: [Int] = []
    }

    /// The frames at each address, outermost first; empty if no unit covers it, nil if libdw must
    /// be asked.
    /// - Parameters:
    ///   - addresses: ascending, each once.
    ///   - symbols: the module's symbols, for the names of physical functions.
    mutating func frames(of addresses: [UInt64], _ symbols: SymbolIndex) -> [[SourceFrame]?] {
        var result: [[SourceFrame]?] = Array(repeating: [], count: addresses.count)
        let parts = parts(of: addresses)
        let (image, split, code) = (image, split, code)
        let (known, isCalledOff) = (places.units, isCalledOff)
        let answers = Workers.map(parts.count, makeState: { WorkerState(image, split, symbols) }) {
            worker, index in
            guard !isCalledOff() else { return WorkerState.Answer() }
            let part = parts[index]
            return worker.answer(part.addresses, part.unit, code: code, known: known[part.unit])
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

    /// By unit, the largest first: the longest work must not begin last.
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

    /// Skeletons all have the same size: for them, the number of addresses decides.
    private func size(of part: Part) -> (unit: Int, addresses: Int) {
        let header = image.units[part.unit]
        return (header.end - header.start, part.addresses.count)
    }

    /// If several units claim the same function, the first counts. GNU ld keeps the first object's
    /// copy of an inline function, and points the others' debug information at it, too.
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

/// The state that a thread keeps from one unit to the next.
private struct WorkerState {
    private let image: DwarfImage
    private let split: SplitUnits
    private let entries: EntryReader
    private let names: NameCache
    private let symbols: SymbolIndex
    /// All attributes read so far, except those that `entries` counts.
    private var effort = 0

    init(_ image: DwarfImage, _ split: SplitUnits, _ symbols: SymbolIndex) {
        self.image = image
        self.split = split
        self.symbols = symbols
        names = NameCache { symbols.tables }
        entries = EntryReader(image)
    }

    struct Answer {
        /// nil if libdw must be asked.
        var frames: [[SourceFrame]]?
        /// The places in the unit, if they are new and worth keeping.
        var places: UnitPlaces?
        /// True if the file with the rest of the unit was not found.
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
        // From the skeleton: lines, and the symbols' names.
        result.lacksFile = unit.isSplit
        return result
    }

    private mutating func answer(
        _ half: SplitHalf, _ wanted: WantedAddresses, code: Range<UInt64>, known: UnitPlaces?
    ) -> Answer {
        let entries = EntryReader(half.unit.image, effort: effort)
        // The cache refers to names by their addresses, so it must not outlive a file that is
        // closed now.
        let answers = UnitAnswers(
            half.unit, wanted, code: code, entries: entries,
            names: half.ownFile == nil ? names : NameCache { [symbols] in symbols.tables },
            symbols: symbols,
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
