import CSystem
import Glibc
import ProcessIO
import ProfileModel
import System

/// Makes a recorder's timer tick for a moment.
package enum TimerExamination {
    private static let ticks = 50

    package static func run() -> TimerFacts {
        var facts = TimerFacts()
        var resolution = timespec()
        if clock_getres(CLOCK_MONOTONIC, &resolution) == 0 {
            facts.resolution = TimeSpan(
                nanoseconds: Int64(resolution.tv_sec) * 1_000_000_000 + Int64(resolution.tv_nsec))
        }
        var set = tickSignal
        var previous = sigset_t()
        pthread_sigmask(SIG_BLOCK, &set, &previous)
        facts.start = Trial { () throws(SystemError) in try measure(&facts) }
        discardTicks()
        pthread_sigmask(SIG_SETMASK, &previous, nil)
        return facts
    }

    private static func measure(_ facts: inout TimerFacts) throws(SystemError) {
        let frequency = 1_000_000_000 / TimerFacts.interval.nanoseconds
        var ticker = try Ticker(frequency: Int32(clamping: frequency))
        ticker.start()
        var set = tickSignal
        for _ in 0..<ticks {
            var taken = fl_signal()
            try check(fl_wait_signal(&set, &taken), "waiting for the timer")
            let before = ticker.lateness
            ticker.serve(overrun: taken.overrun, at: .now)
            facts.lateness.append(ticker.lateness - before)
        }
        facts.missed = ticker.missed
    }

    private static var tickSignal: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, fl_tick_signal())
        return set
    }

    /// A tick left behind by a deleted timer would kill us once it is no longer blocked.
    private static func discardTicks() {
        var set = tickSignal
        var now = timespec()
        while (try? retrying { sigtimedwait(&set, nil, &now) }) != nil {}
    }
}
