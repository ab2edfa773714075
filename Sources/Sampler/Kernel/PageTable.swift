/// `/proc/PID/pagemap`: a word for each page of a process's memory.
struct PageTable {
    let pid: Int32

    /// The pages' words; empty: the table cannot be read.
    func words(of pages: Range<UInt64>) -> [UInt64] {
        ProcFile.words(
            of: "/proc/\(pid)/pagemap", at: 8 &* pages.lowerBound, count: pages.count)
    }

    /// Whether a page exists, in memory or swapped out: the two upper bits.
    static func isThere(_ word: UInt64) -> Bool { word >> 62 != 0 }

    /// Whether a page is a guard without a mapping of its own (PM_GUARD_REGION).
    static func isGuard(_ word: UInt64) -> Bool { word & (1 << 58) != 0 }
}
