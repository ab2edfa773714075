import ProfileModel
import Testing

@testable import Launching
@testable import Sampler

/// An ``ExecWatch`` that can be asked inside an expectation.
private final class Watch {
    private var watch = ExecWatch()

    func advance(to latest: Int32, at now: MonotonicTime) -> Bool {
        watch.advance(to: latest, at: now)
    }

    func due(at now: MonotonicTime) -> [Int32] { watch.due(at: now) }

    func pause(at now: MonotonicTime, from short: TimeSpan, to long: TimeSpan) -> TimeSpan {
        watch.pause(at: now, from: short, to: long)
    }

    func isUnknown(_ pid: Int32) -> Bool { watch.isUnknown(pid) }

    func toScan(of all: [Int32]) -> [Int32] { watch.toScan(of: all) }

    func sawNothing(_ pid: Int32, isThread: Bool, at now: MonotonicTime) {
        watch.sawNothing(pid, isThread: isThread, at: now)
    }

    func saw(_ image: ProcessImage, of pid: Int32, at now: MonotonicTime) -> Bool {
        watch.saw(image, of: pid, at: now)
    }
}

/// When which exec is reported, at made-up times.
@Suite struct ExecWatchTests {
    private static func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0) + .milliseconds(milliseconds)
    }

    private static func image(
        stack: UInt64 = 1, hasExecuted: Bool = true, isKernelThread: Bool = false
    ) -> ProcessImage {
        ProcessImage(
            command: Array("a".utf8), state: UInt8(ascii: "S"),
            flags: (hasExecuted ? 0 : 0x40) | (isKernelThread ? 0x0020_0000 : 0), startTime: 1,
            codeStart: 1, stackStart: stack)
    }

    /// A watch that begins at id 100, and has noticed 101 at 0 ms.
    fileprivate static func watchOfOne() -> Watch {
        let watch = Watch()
        #expect(watch.advance(to: 100, at: at(0)))
        #expect(watch.advance(to: 101, at: at(0)))
        return watch
    }

    @Test func newIDsAreDueAtOnce() {
        let watch = Watch()
        #expect(watch.advance(to: 100, at: Self.at(0)))
        #expect(watch.due(at: Self.at(0)).isEmpty)
        #expect(watch.advance(to: 103, at: Self.at(1)))
        #expect(watch.due(at: Self.at(1)).sorted() == [101, 102, 103])
    }

    @Test(arguments: [99, 1, 100 + 4097, Int32.max] as [Int32])
    func processesAreScannedWithoutEvents(latest: Int32) {
        let watch = Watch()
        _ = watch.advance(to: 100, at: Self.at(0))
        #expect(!watch.advance(to: latest, at: Self.at(1)))
        #expect(watch.due(at: Self.at(1)).isEmpty)
        // Followed again from there.
        #expect(watch.advance(to: latest, at: Self.at(2)))
    }

    @Test func theLastIDOfAll() {
        let watch = Watch()
        _ = watch.advance(to: .max - 1, at: Self.at(0))
        #expect(watch.advance(to: .max, at: Self.at(0)))
        #expect(watch.due(at: Self.at(0)) == [.max])
    }

    @Test func aForkThatExecutes() {
        let watch = Self.watchOfOne()
        #expect(!watch.saw(Self.image(hasExecuted: false), of: 101, at: Self.at(0)))
        #expect(!watch.saw(Self.image(hasExecuted: false), of: 101, at: Self.at(1)))
        #expect(watch.saw(Self.image(stack: 2), of: 101, at: Self.at(2)))
        #expect(!watch.saw(Self.image(stack: 2), of: 101, at: Self.at(3)))
        // And again, as wrappers do.
        #expect(watch.saw(Self.image(stack: 3), of: 101, at: Self.at(4)))
    }

    /// Addresses need not be random.
    @Test func anExecuteToTheSamePlace() {
        let watch = Self.watchOfOne()
        #expect(!watch.saw(Self.image(hasExecuted: false), of: 101, at: Self.at(0)))
        #expect(watch.saw(Self.image(), of: 101, at: Self.at(2)))
    }

    @Test func lessAndLessOften() {
        let watch = Self.watchOfOne()
        var looks = 0
        var longest: Int64 = 0
        var last: Int64 = 0
        for moment in 0..<10_000 as Range<Int64> where watch.due(at: Self.at(moment)) == [101] {
            looks += 1
            // A pause is a fiftieth of the age, or the time between two chances.
            #expect(moment - last <= max(1, last / 50 + 1), "\(moment)")
            longest = max(longest, moment - last)
            last = moment
            _ = watch.saw(Self.image(), of: 101, at: Self.at(moment))
        }
        #expect(looks < 300)
        #expect(longest <= 50)
        #expect(last < 3000)
        #expect(watch.toScan(of: [101]) == [101])
    }

    @Test func pausesEndWhenSomeoneIsDue() {
        let watch = Self.watchOfOne()
        let (short, long) = (TimeSpan.milliseconds(1), TimeSpan.milliseconds(5))
        #expect(watch.pause(at: Self.at(0), from: short, to: long) == short)
        _ = watch.saw(Self.image(), of: 101, at: Self.at(100))
        #expect(watch.pause(at: Self.at(100), from: short, to: long) == .milliseconds(2))
        _ = watch.saw(Self.image(), of: 101, at: Self.at(1000))
        #expect(watch.pause(at: Self.at(1000), from: short, to: long) == long)
        #expect(Watch().pause(at: Self.at(0), from: short, to: long) == long)
    }

    /// An id is given out before its process can be seen.
    @Test func anInvisibleProcessIsAwaited() {
        let watch = Self.watchOfOne()
        watch.sawNothing(101, isThread: false, at: Self.at(0))
        watch.sawNothing(101, isThread: false, at: Self.at(5))
        #expect(watch.due(at: Self.at(5)) == [101])
        watch.sawNothing(101, isThread: false, at: Self.at(6))
        #expect(watch.due(at: Self.at(6)).isEmpty)
    }

    @Test func threadsAreLeftAlone() {
        let watch = Self.watchOfOne()
        watch.sawNothing(101, isThread: true, at: Self.at(0))
        #expect(watch.due(at: Self.at(1)).isEmpty)
    }

    @Test func scansSkipKernelThreadsAndTheYoung() {
        let watch = Self.watchOfOne()
        #expect(watch.toScan(of: [1, 2, 101]) == [1, 2])
        #expect(!watch.saw(Self.image(isKernelThread: true), of: 2, at: Self.at(0)))
        #expect(watch.saw(Self.image(), of: 1, at: Self.at(0)))
        #expect(watch.toScan(of: [1, 2, 101]) == [1])
        // The kernel's thread has gone, and its id may be anyone's.
        #expect(watch.toScan(of: [1]) == [1])
        #expect(watch.toScan(of: [1, 2]) == [1, 2])
    }

    @Test func theDeadAreForgotten() {
        let watch = Watch()
        #expect(watch.saw(Self.image(), of: 1, at: Self.at(0)))
        #expect(!watch.isUnknown(1))
        _ = watch.toScan(of: [2])
        #expect(watch.isUnknown(1))
        #expect(watch.saw(Self.image(), of: 1, at: Self.at(1)))
    }
}
