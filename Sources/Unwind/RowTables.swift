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
