import ProfileModel
import TestSupport
import Testing

@testable import Launching
@testable import Sampler

/// Reading the kernel's messages, and bytes that are no messages.
@Suite struct ProcessEventTests {
    @Test func aProcessBegins() throws {
        let bytes = KernelBytes.event(what: 1, time: 99, 10, 11, 20, 20)
        let event = try #require(ProcessEvent(bytes[...]))
        #expect(event.kind == .processBegan(pid: 20, parent: 11))
        #expect(event.time.nanoseconds == 99)
    }

    @Test func aThreadBegins() {
        let event = ProcessEvent(KernelBytes.event(what: 1, 10, 11, 21, 20)[...])
        #expect(event?.kind == .threadBegan(process: 20, tid: 21))
    }

    @Test func execsAndEnds() {
        let exec = ProcessEvent(KernelBytes.event(what: 2, 20, 20)[...])
        #expect(exec?.kind == .executed(pid: 20))
        let end = ProcessEvent(KernelBytes.event(what: 0x8000_0000, 21, 20, 0x300, 17)[...])
        #expect(end?.kind == .threadEnded(process: 20, tid: 21, code: 0x300))
    }

    @Test func everythingElse() {
        #expect(ProcessEvent(KernelBytes.event(what: 0x200, 1, 1)[...])?.kind == .other)
        #expect(ProcessEvent(KernelBytes.event(what: 0, 0)[...])?.kind == .listening)
    }

    @Test func idsThatAreNone() {
        #expect(ProcessEvent(KernelBytes.event(what: 1, 1, 1, 0, 5)[...]) == nil)
        #expect(ProcessEvent(KernelBytes.event(what: 2, 1, .max)[...]) == nil)
    }

    @Test func truncatedRecordsAreIgnored() {
        let bytes = KernelBytes.event(what: 0x8000_0000, 21, 20, 0)
        for count in 0..<bytes.count { #expect(ProcessEvent(bytes.prefix(count)) == nil) }
    }

    @Test func noBytesDoHarm() {
        var numbers = SeededNumbers(seed: 1)
        for _ in 0..<2000 {
            var bytes = KernelBytes.event(what: 1, 10, 11, 20, 20)
            for _ in 0..<3 {
                bytes[Int.random(in: 0..<bytes.count, using: &numbers)] =
                    UInt8.random(in: 0...255, using: &numbers)
            }
            let length = Int.random(in: 0...bytes.count, using: &numbers)
            _ = ProcessEvent(bytes.prefix(length))
            _ = ThreadCosts.news(bytes.prefix(length))
        }
    }
}

@Suite struct ThreadCostsTests {
    private static let made = ThreadCosts(
        cpu: .milliseconds(3), minorFaults: 4, majorFaults: 5, readBytes: 6)

    @Test func figuresOfAThread() {
        let news = ThreadCosts.news(KernelBytes.costs(tid: 12, Self.made)[...])
        #expect(news == [ThreadCosts.News(tid: 12, costs: Self.made)])
    }

    @Test func truncatedRecordsAreIgnored() {
        let bytes = KernelBytes.costs(tid: 12, Self.made)
        for count in 0..<bytes.count { #expect(ThreadCosts.news(bytes.prefix(count)).isEmpty) }
    }

    @Test func figuresThatCannotBe() {
        for value in [-1, Int64.max] {
            var costs = Self.made
            costs.minorFaults = value
            #expect(ThreadCosts.news(KernelBytes.costs(tid: 12, costs)[...]).isEmpty)
        }
        #expect(ThreadCosts.news(KernelBytes.costs(tid: 0, Self.made)[...]).isEmpty)
    }

    @Test func noBytesDoHarm() {
        var numbers = SeededNumbers(seed: 2)
        for _ in 0..<2000 {
            var bytes = KernelBytes.costs(tid: 12, Self.made)
            for _ in 0..<4 {
                bytes[Int.random(in: 0..<40, using: &numbers)] =
                    UInt8.random(in: 0...255, using: &numbers)
            }
            _ = ThreadCosts.news(bytes[...])
        }
    }
}
