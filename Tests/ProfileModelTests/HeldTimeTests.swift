import ProfileModel
import TestSupport
import Testing

/// The clock that leaves out what the recorder held the whole program for.
@Suite struct HeldTimeTests {
    private func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    private func held(_ stretches: [(Int64, Int64)]) -> HeldTime {
        HeldTime(
            stretches.flatMap {
                [
                    LaunchBorder(kind: .held, time: at($0.0)),
                    LaunchBorder(kind: .released, time: at($0.1)),
                ]
            })
    }

    @Test func theClockStandsStillMeanwhile() {
        let held = held([(10, 14), (20, 21)])
        #expect(held.total == .milliseconds(5))
        #expect(held.without(at(10)) == at(10))
        #expect(held.without(at(12)) == at(10))
        #expect(held.without(at(14)) == at(10))
        #expect(held.without(at(20)) == at(16))
        #expect(held.without(at(30)) == at(25))
    }

    @Test func whatHasNoEndIsNotHeld() {
        #expect(HeldTime([LaunchBorder(kind: .held, time: at(3))]).isEmpty)
        #expect(HeldTime([LaunchBorder(kind: .released, time: at(3))]).isEmpty)
        #expect(held([(5, 5)]).isEmpty)
        #expect(HeldTime([]).without(at(7)) == at(7))
    }

    /// What the thread did stays; what is left out of its slice is waiting.
    @Test func slicesKeepTheirRunning() {
        var recording = Recording(
            header: Recording.Header(
                pid: 1, isAttached: false, capture: .signal, frequency: 1000))
        recording.borders = [
            LaunchBorder(kind: .spawned, time: at(0)), LaunchBorder(kind: .held, time: at(2)),
            LaunchBorder(kind: .released, time: at(5)), LaunchBorder(kind: .ended, time: at(10)),
        ]
        let times = StateTimes(
            running: .milliseconds(6), runnable: .milliseconds(1), preempted: .milliseconds(2),
            blocked: .milliseconds(1))
        recording.slices = [
            Slice(thread: ThreadIndex(0), start: at(0), times: times, stack: nil)
        ]
        let left = recording.without(HeldTime(recording.borders))
        #expect(left.slices[0].times.wall == .milliseconds(7))
        #expect(left.slices[0].times.running == .milliseconds(6))
        #expect(left.slices[0].times.preempted == .zero)
        #expect(left.slices[0].times.runnable == .zero)
        #expect(left.slices[0].times.blocked == .milliseconds(1))
        #expect(left.borders.last?.time == at(7))
    }

    /// Whatever is held: slices that tiled a thread's life tile what is left of it.
    @Test(arguments: 1...20) func slicesStillTile(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var recording = Recording(
            header: Recording.Header(
                pid: 1, isAttached: false, capture: .signal, frequency: 1000))
        var now: Int64 = 0
        for _ in 0..<200 {
            func part() -> TimeSpan {
                TimeSpan(nanoseconds: Int64.random(in: 0...900, using: &random))
            }
            let times = StateTimes(
                running: part(), runnable: part(), preempted: part(), blocked: part())
            recording.slices.append(
                Slice(
                    thread: ThreadIndex(0), start: MonotonicTime(nanoseconds: now), times: times,
                    stack: nil))
            now += times.wall.nanoseconds
        }
        for _ in 0..<10 {
            let start = Int64.random(in: 0...now, using: &random)
            recording.borders.append(
                LaunchBorder(kind: .held, time: MonotonicTime(nanoseconds: start)))
            recording.borders.append(
                LaunchBorder(
                    kind: .released,
                    time: MonotonicTime(nanoseconds: start + .random(in: 0...2000, using: &random)))
            )
        }
        let held = HeldTime(recording.borders)
        let left = recording.without(held)
        for (one, next) in zip(left.slices, left.slices.dropFirst()) {
            #expect(one.end == next.start)
        }
        let end = held.without(MonotonicTime(nanoseconds: now))
        #expect(left.slices.last?.end == end)
    }
}
