import Glibc
import ProfileModel
import System
import Testing

struct ClockTests {
    @Test func `a thread's CPU time passes only while it runs`() {
        let (start, used) = (MonotonicTime.now, CPUClock.ofThread)
        usleep(50_000)
        #expect(MonotonicTime.now - start >= .milliseconds(50))
        #expect(CPUClock.ofThread - used < .milliseconds(25))
        let before = CPUClock.ofThread
        while CPUClock.ofThread - before < .milliseconds(5) {}
        #expect(MonotonicTime.now - start >= .milliseconds(55))
    }

    @Test func `the time of day is in nanoseconds since 1970`() {
        let before = Int64(time(nil))
        let now = WallClock.now / 1_000_000_000
        #expect(before - 1...Int64(time(nil)) + 1 ~= now)
    }
}
