/// The layout of memory.
package enum VirtualMemory {
    /// In bytes.
    @inlinable package static var pageSize: UInt64 { 4096 }

    /// The upper half belongs to the kernel; no program has memory there.
    @inlinable package static var kernelStart: UInt64 { 1 << 63 }

    /// No program has memory from here on, not even with five levels of page tables.
    @inlinable package static var programsEnd: UInt64 { 1 << 56 }

    /// The start of the page that holds the address.
    @inlinable
    package static func pageStart(of address: UInt64) -> UInt64 { address & ~(pageSize - 1) }

    /// The address itself if a page starts there, or else the start of the next page.
    @inlinable
    package static func pageEnd(of address: UInt64) -> UInt64 {
        (address &+ (pageSize - 1)) & ~(pageSize - 1)
    }

    /// The numbers of the pages that hold a range.
    package static func pages(of range: Range<UInt64>) -> Range<UInt64> {
        range.lowerBound / pageSize..<pageEnd(of: range.upperBound) / pageSize
    }

    /// A number of bytes, rounded up to whole pages.
    @inlinable
    package static func wholePages(_ count: Int) -> Int {
        (count + Int(pageSize) - 1) / Int(pageSize) * Int(pageSize)
    }
}
