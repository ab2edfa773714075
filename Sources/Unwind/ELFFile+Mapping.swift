import Architecture
import CElfutils
import ELF

/// The facts about a file that unwinding needs. A damaged file gives empty answers.
extension ELFFile {
    /// Subtract this from an address in the process to get the file's own. It follows from the
    /// executable segment that holds the mapping's first byte; nil if none does.
    func bias(mappedAt start: UInt64, fileOffset: UInt64) -> UInt64? {
        for segment in segments where segment.isLoaded && segment.isExecutable {
            let pageStart = VirtualMemory.pageStart(of: segment.offset)
            if fileOffset >= pageStart, fileOffset < segment.offset &+ segment.fileSize {
                return start &- (segment.address &+ (fileOffset &- segment.offset))
            }
        }
        return nil
    }

    /// The file's own addresses, from the first segment's start to the last one's end; nil if there
    /// are no segments.
    var span: Range<UInt64>? {
        let loaded = segments.filter(\.isLoaded)
        let ends = loaded.map { $0.address.addingReportingOverflow($0.memorySize) }
        guard let start = loaded.map(\.address).min(),
            let end = ends.filter({ !$0.overflow }).map(\.partialValue).max(), start < end
        else { return nil }
        return start..<end
    }

    /// The bytes in a range of the file's own addresses that the program cannot change, with their
    /// offsets in the range.
    func constants(in range: Range<UInt64>) -> [(place: Int, bytes: [UInt8])] {
        segments.filter { $0.isLoaded && !$0.isWritable }.compactMap { segment in
            let (end, overflow) = segment.address.addingReportingOverflow(segment.fileSize)
            guard !overflow, segment.address < end else { return nil }
            let part = range.clamped(to: segment.address..<end)
            guard !part.isEmpty, let bytes = bytes(at: part.lowerBound, count: part.count) else {
                return nil
            }
            return (Int(part.lowerBound - range.lowerBound), bytes)
        }
    }

    /// Calls `body` with the name and the addresses of each function in a symbol table.
    ///
    /// - Parameter isDynamic: true for the table of dynamic symbols.
    func forEachFunction(
        isDynamic: Bool = false, _ body: (UnsafeRawBufferPointer, Range<UInt64>) -> Void
    ) {
        for table in symbolTables(isDynamic: isDynamic) {
            for index in 0..<table.count {
                guard let symbol = table.entry(index), symbol.type == UInt8(STT_FUNC),
                    let name = table.name(at: symbol.name)
                else { continue }
                let (end, overflow) = symbol.address.addingReportingOverflow(symbol.size)
                if !overflow { body(name, symbol.address..<end) }
            }
        }
    }

    /// The addresses that a section covers; nil if there is none.
    func range(ofSection name: String) -> Range<UInt64>? {
        guard let section = index(ofSection: name).map({ sections[$0] }) else { return nil }
        let (end, overflow) = section.address.addingReportingOverflow(section.size)
        return overflow ? nil : section.address..<end
    }

    /// A section's bytes and its address; nil if the file has none.
    func contents(ofSection name: String) -> TableSection? {
        guard let index = index(ofSection: name) else { return nil }
        let bytes = bytes(ofSection: index)
        return bytes.isEmpty ? nil : TableSection(bytes: bytes, address: sections[index].address)
    }

    /// `.eh_frame`, in our own reader; nil if there is none.
    func rowTables() -> RowTables? {
        guard let frames = contents(ofSection: ".eh_frame") else { return nil }
        return RowTables(frames, header: contents(ofSection: ".eh_frame_hdr"))
    }
}

/// A module's `.eh_frame` in our own reader. It gives the rules of most addresses in a few dozen
/// nanoseconds, and caches nothing. libdw answers the rest.
struct RowTables {
    private let entries: FrameEntries
    private let index: FunctionIndex

    enum Answer: Equatable {
        case rule(UnwindRule)
        /// A signal's frame: it holds the interrupted registers.
        case signalFrame
        /// No function of the table covers the address.
        case notCovered
        /// Damaged, or in a form that is not read here.
        case unknown
    }

    init(_ section: TableSection, header: TableSection?) {
        entries = FrameEntries(section: section)
        index = FunctionIndex(entries, header: header)
    }

    /// The position of the entry of an address's function, if libunwind may read it.
    func harmlessEntry(around address: UInt64) -> UInt64? {
        guard let position = index.position(around: address),
            let entry = entries.function(at: position), entry.contains(address),
            EntryInspection(entries.section).isHarmless(entry)
        else { return nil }
        return entries.section.address &+ UInt64(position)
    }

    /// Where the function that holds an address begins; nil: no entry covers it.
    func functionStart(around address: UInt64) -> UInt64? {
        index.position(around: address).flatMap(entries.function).flatMap {
            $0.contains(address) ? $0.start : nil
        }
    }

    func answer(at address: UInt64) -> Answer {
        guard let position = index.position(around: address) else { return .notCovered }
        guard let entry = entries.function(at: position) else { return .unknown }
        guard entry.contains(address) else { return .notCovered }
        if entry.common.isSignalFrame { return .signalFrame }
        guard let row = RowProgram.row(of: entry, at: address, in: entries.section) else {
            return .unknown
        }
        return .rule(row.rule(at: address))
    }
}
