import Analysis
import ProfileModel
import Testing

@testable import Launching
@testable import Sampler

@Suite struct MachineMeterTests {
    /// In milliseconds; two cores.
    private static func reading(
        at time: Int64, idle: Int64, stolen: Int64 = 0, own: Int64 = 0
    ) -> MachineMeter.Reading {
        MachineMeter.Reading(
            time: MonotonicTime(nanoseconds: time * 1_000_000), idle: .milliseconds(idle),
            stolen: .milliseconds(stolen), own: .milliseconds(own))
    }

    private static func share(_ work: Int64, _ stolen: Int64 = 0) -> MachineMeter.Share {
        MachineMeter.Share(work: .milliseconds(work), stolen: .milliseconds(stolen))
    }

    @Test func aLongLaunchHasItsOwnTime() {
        var meter = MachineMeter(cores: 2)
        // Earlier time does not count.
        meter.begin(Self.reading(at: 0, idle: 0))
        meter.begin(Self.reading(at: 1000, idle: 0, stolen: 50))
        let end = Self.reading(at: 1300, idle: 200, stolen: 60, own: 240)
        #expect(meter.end(end, after: .milliseconds(300)) == Self.share(150, 10))
    }

    @Test func aShortLaunchHasTheShareOfThoseBefore() {
        var meter = MachineMeter(cores: 2)
        for number in 0..<100 as Range<Int64> {
            // 10 ms each, of which 5 are the launch; one core is free, we use half of the other.
            let (begin, end) = (number * 10, number * 10 + 5)
            meter.begin(Self.reading(at: begin, idle: begin, own: begin / 2))
            let found = meter.end(
                Self.reading(at: end, idle: end, own: end / 2), after: .milliseconds(5))
            guard end >= 250 else {
                #expect(found == nil)
                continue
            }
            let work = found?.work.nanoseconds ?? 0
            #expect(abs(work - 2_500_000) < 100_000 && found?.stolen == .zero)
        }
    }

    /// With any figures of the kernel's, no share is negative, and a launch has no more than there
    /// was.
    @Test func figuresThatCannotBe() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            var meter = MachineMeter(cores: 2)
            func reading() -> MachineMeter.Reading {
                func any() -> Int64 { .random(in: 0...2000, using: &random) }
                return Self.reading(at: any(), idle: any(), stolen: any(), own: any())
            }
            for _ in 0..<Int.random(in: 0...5, using: &random) { meter.begin(reading()) }
            let launch = TimeSpan.milliseconds(.random(in: 0...2000, using: &random))
            guard let found = meter.end(reading(), after: launch) else { continue }
            #expect(found.work >= .zero && found.stolen >= .zero)
        }
    }

    @Test func unreadableFiguresAreUnknown() {
        var meter = MachineMeter(cores: 2)
        #expect(meter.end(Self.reading(at: 900, idle: 0), after: .milliseconds(5)) == nil)
        meter.begin(Self.reading(at: 0, idle: 0))
        #expect(meter.end(nil, after: .milliseconds(5)) == nil)
        meter.begin(nil)
        #expect(meter.end(Self.reading(at: 900, idle: 0), after: .milliseconds(5)) == nil)
    }

    @Test func itWorksHere() throws {
        let reading = try #require(MachineMeter.Reading.now(besides: nil))
        #expect(reading.idle > .zero && reading.own > .zero)
        // No process has this id.
        #expect(MachineMeter.Reading.now(besides: .max) == nil)
    }
}
