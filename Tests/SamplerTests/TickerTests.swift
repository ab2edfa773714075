import CSystem
import Glibc
import ProfileModel
import System
import Testing

@testable import ProcessIO
@testable import Sampler

/// Deadlines are what counts, so the times are made up; the timer itself is only there.
@Suite(.serialized) struct TickerTests {
    private static let second: Int64 = 1_000_000_000

    init() {
        // The timer's signal would end a process that does not wait for it.
        signal(fl_tick_signal(), SIG_IGN)
    }

    /// A ticker of 1 Hz, and between which moments its first deadline lies.
    private struct Timed: ~Copyable {
        var ticker: Ticker
        let first: Int64
        let uncertainty: Int64

        init() throws {
            let before = MonotonicTime.now.nanoseconds
            ticker = try Ticker(frequency: 1)
            ticker.start()
            first = before + second
            uncertainty = MonotonicTime.now.nanoseconds - before
        }
    }

    @Test func latenessIsCountedFromTheFirstDeadline() throws {
        var timed = try Timed()
        let (first, uncertainty) = (timed.first, timed.uncertainty)
        for tick in 0..<5 as Range<Int64> {
            // Each 7 ms late: not added up.
            let late = first + tick * Self.second + uncertainty + 7_000_000
            timed.ticker.serve(overrun: 0, at: MonotonicTime(nanoseconds: late))
        }
        #expect(timed.ticker.served == 5)
        #expect(timed.ticker.missed == 0)
        let range = (5 * 7_000_000)...(5 * (7_000_000 + uncertainty))
        #expect(range.contains(timed.ticker.lateness.nanoseconds))
    }

    @Test func missedTicksMoveTheDeadline() throws {
        var timed = try Timed()
        let (first, uncertainty) = (timed.first, timed.uncertainty)
        let third = first + 2 * Self.second + uncertainty + 3000
        timed.ticker.serve(overrun: 2, at: MonotonicTime(nanoseconds: third))
        #expect(timed.ticker.served == 1)
        #expect(timed.ticker.missed == 2)
        #expect((3000...(3000 + uncertainty)).contains(timed.ticker.lateness.nanoseconds))
        // On time again.
        timed.ticker.serve(
            overrun: 0, at: MonotonicTime(nanoseconds: first + 3 * Self.second + uncertainty))
        #expect(timed.ticker.lateness.nanoseconds <= 3000 + 2 * uncertainty)
    }

    @Test func anEarlyTickIsNotLessThanPunctual() throws {
        var timed = try Timed()
        timed.ticker.serve(overrun: 0, at: MonotonicTime(nanoseconds: 0))
        timed.ticker.serve(overrun: -5, at: MonotonicTime(nanoseconds: 0))
        #expect(timed.ticker.lateness == .zero)
        #expect(timed.ticker.served == 2 && timed.ticker.missed == 0)
    }

    @Test(arguments: [Int32.min, -1, 0, 1, 10_000, Int32.max])
    func everyFrequencyGivesATimer(frequency: Int32) throws {
        var ticker = try Ticker(frequency: frequency)
        ticker.start()
        ticker.serve(overrun: .max, at: .now)
        #expect(ticker.missed == Int64(Int32.max))
    }
}
