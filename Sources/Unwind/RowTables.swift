/// A module's `.eh_frame`, read by us: the rules of most addresses in a few dozen nanoseconds, with
/// nothing kept. What it cannot tell, libdw can.
struct RowTables {
    private let entries: FrameEntries
    private let index: FunctionIndex

    enum Answer: Equatable {
        case rule(UnwindRule)
        /// A signal's frame: where the kernel left the interrupted registers.
        case signalFrame
        /// No function of the table covers the address.
        case notCovered
        /// Damaged, or written in a way that is not read here.
        case unknown
    }

    init(_ section: TableSection, header: TableSection?) {
        entries = FrameEntries(section: section)
        index = FunctionIndex(entries, header: header)
    }

    /// Where the entry of an address's function is, if libunwind may be given it.
    func harmlessEntry(around address: UInt64) -> UInt64? {
        guard let position = index.position(around: address),
            let entry = entries.function(at: position), entry.contains(address),
            EntryInspection(entries.section).isHarmless(entry)
        else { return nil }
        return entries.section.address &+ UInt64(position)
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
