import ProfileModel
import Testing

@testable import Sampler

@Suite struct LibraryListingTests {
    private func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000)
    }

    @Test func theListIsReadMoreThanOnceButNotForEver() {
        var listing = LibraryListing(time(0), at: time(3))
        var readings: [Int64] = []
        for moment in 3...2000 as ClosedRange<Int64> where listing.isDue(at: time(moment)) {
            readings.append(moment - 3)
            listing.wasRead(at: time(moment))
        }
        #expect(readings == [0, 1, 3, 7, 15, 31, 63, 127])
    }

    /// While the linker is at work nothing is read, however long that takes.
    @Test func aLinkerAtWorkIsWaitedFor() {
        let listing = LibraryListing(time(0), at: time(0))
        #expect(listing.isDue(at: time(100_000)))
    }
}
