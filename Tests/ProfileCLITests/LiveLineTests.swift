import Glibc
import ProfileModel
import Recorder
import Sampler
import Testing

@testable import ProfileCLI

@Suite struct LiveLineTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    private func text(_ events: [SamplerEvent]) -> String {
        var progress = RecordingProgress()
        for event in events { progress.note(event) }
        return RecordingLine.text(progress, at: Self.time(2_340))
    }

    private static func mark(_ kind: Mark.Kind, at milliseconds: Int64) -> SamplerEvent {
        .mark(Mark(kind: kind, time: time(milliseconds)))
    }

    private static let thread = SamplerEvent.threadStarted(
        RecordedThread(tid: 7, name: "app", start: time(1_001), isMain: true))

    @Test func aLaunch() {
        var events = [SamplerEvent.began(pid: 7)]
        #expect(text(events) == "firstlight: Process creation, 0 threads, 0 samples")
        let steps: [(Mark.Kind, String)] = [
            (.spawned, "Process creation"), (.firstInstruction, "before main"),
            (.relocated, "Static initialisers"), (.main, "Main"),
            (.firstInstruction, "before main"),
            (.ended, "the end"),
        ]
        for (number, (kind, phase)) in steps.enumerated() {
            events.append(Self.mark(kind, at: 1_000 + Int64(number)))
            #expect(text(events) == "firstlight: \(phase), 1.3 s, 0 threads, 0 samples")
        }
    }

    @Test func threadsThatLive() {
        let events = [
            SamplerEvent.began(pid: 7), Self.mark(.attached, at: 1_000), Self.thread, Self.thread,
            .threadEnded(ThreadIndex(0), Self.time(1_002)),
        ]
        #expect(text(events) == "firstlight: Attached, 1.3 s, 1 thread, 0 samples")
        let ready = SamplerEvent.ready(Readiness(time: Self.time(1_100), by: "notify"))
        #expect(text(events + [ready]) == "firstlight: Extended, 1.3 s, 1 thread, 0 samples")
    }

    @Test func noTerminalNoLine() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let line = LiveLine(on: ends[1])
        #expect(!line.isVisible)
        line.show("x")
        line.wipe()
        #expect(RecordingLine(line, isForced: true) == nil)
        close(ends[1])
        var byte: UInt8 = 0
        #expect(read(ends[0], &byte, 1) == 0)
        close(ends[0])
    }

    /// The step's result and its errors come through, and its thread has ended.
    @Test func aStepThatNobodySees() {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let line = LiveLine(on: ends[1])
        #expect(SlowStep.run(on: line, { "x" }) { 3 } == 3)
        #expect(throws: CancellationError.self) {
            try SlowStep.run(on: line, { "x" }) { throw CancellationError() }
        }
        close(ends[0])
        close(ends[1])
    }
}
