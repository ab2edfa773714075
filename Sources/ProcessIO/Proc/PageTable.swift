/// `/proc/PID/pagemap`: a word for each page of a process's memory.
package struct PageTable {
    package let pid: Int32

    package init(pid: Int32) { self.pid = pid }

    /// The pages' words; empty: the table cannot be read.
    package func words(of pages: Range<UInt64>) -> [UInt64] {
        ProcFile.words(
            of: "/proc/\(pid)/pagemap", at: 8 &* pages.lowerBound, count: pages.count)
    }

    /// Whether a page exists, in memory or swapped out: the two upper bits.
    package static func isThere(_ word: UInt64) -> Bool { word >> 62 != 0 }

    /// Whether a page is a guard that has no mapping of its own (PM_GUARD_REGION).
    package static func isGuard(_ word: UInt64) -> Bool { word & (1 << 58) != 0 }
}
