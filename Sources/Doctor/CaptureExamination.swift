import Architecture
import CSystem
import Glibc
import Launching
import ProcessIO
import ProfileModel
import Sampler

/// Records a program that does nothing of interest, as `record` would, and examines the recording.
package enum CaptureExamination {
    /// Some tens of milliseconds of counting.
    private static let program = [
        "/bin/sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done",
    ].map { CommandWord($0) }

    package static func run() -> TracingFacts.Capture {
        let sink = CountingSink()
        var options = SamplerOptions(duration: .milliseconds(2000))
        options.asksScheduler = false
        do throws(SamplerError) {
            let outcome = try Sampler.launch(
                program, options: options, signals: SignalQueue(), sink: sink)
            let reason = outcome.notes.first { note in
                TracingFacts.Capture.obstacles.contains(note.kind)
            }
            return .ran(
                method: outcome.capture, stacks: sink.stacks, notesBorders: sink.hasRelocation,
                obstacle: reason?.kind)
        } catch {
            return .failed(error.description)
        }
    }
}

extension TracingFacts.Capture {
    /// Notes that say why stacks of a process were not taken by signal.
    fileprivate static let obstacles: Set<RecorderNote.Kind> = [
        .ownHandler, .displaced, .filtered, .noCallSite, .occupied, .noRoom, .limited,
        .unmapped, .unwritable, .lateEntry, .shadowStack, .otherClock,
    ]
}

/// Counts stacks that have all registers.
private final class CountingSink: SampleSink, @unchecked Sendable {
    private(set) var stacks = 0
    private(set) var hasRelocation = false

    func receive(_ event: SamplerEvent) {
        switch event {
        case .sample(let sample):
            if case .snapshot(let snapshot) = sample.content,
                snapshot.registers.framePointer != nil
            {
                stacks += 1
            }
        case .border(let border): hasRelocation = hasRelocation || border.kind == .relocated
        default: break
        }
    }

    func takeRefinements() -> [StackRefinement] { [] }
    var hasFailed: Bool { false }
}
