import Analysis
import Exports
import Glibc
package import ProfileModel
package import Recorder
import Report
import Sampler
import System

/// The line that shows a recording's progress.
///
/// The program's own output must stay readable. We cannot know when it will write next, so the line
/// is shown only if the program's output goes elsewhere, or if the user asks for it.
package struct RecordingLine: Sendable {
    private let line: LiveLine
    private let device: dev_t
    private let isForced: Bool

    /// - Parameters:
    ///   - line: if it cannot be seen, the result is nil.
    ///   - isForced: true to show the line even on the program's own terminal.
    init?(_ line: LiveLine, isForced: Bool) {
        guard line.isVisible, let device = OutputPlace.device(of: line.stream) else { return nil }
        self.line = line
        self.device = device
        self.isForced = isForced
    }

    func show(_ progress: RecordingProgress) {
        guard mayStand(beside: progress.pid) else { return line.wipe() }
        line.show(Self.text(progress, at: .now))
    }

    /// True if a running program's own output stays readable beside the line.
    func mayStand(beside pid: Int32) -> Bool {
        isForced || !OutputPlace.mayBe(device, of: pid)
    }

    /// "firstlight: Main, 1.24 s, 8 threads, 4,216 samples"
    package static func text(_ progress: RecordingProgress, at now: MonotonicTime) -> String {
        var parts = [phase(of: progress)]
        if let start = progress.start { parts.append(seconds(now - start)) }
        parts.append(Numbers.count(progress.threads, "thread"))
        parts.append(Numbers.count(Int(progress.samples), "sample"))
        return "firstlight: " + parts.joined(separator: ", ")
    }

    private static func phase(of progress: RecordingProgress) -> String {
        if progress.isReady { return Phase.Names.extended }
        return switch progress.border {
        case nil, .spawned: Phase.Names.creation
        case .firstInstruction: "running"
        // Without a dynamic linker, there is no phase of that name.
        case .watched: "before main"
        case .relocated: Phase.Names.initialisers
        case .main: Phase.Names.main
        case .attached: Phase.Names.attached
        case .ended, .held, .released: "the end"
        }
    }

    /// To a tenth, so that the line stays calm.
    private static func seconds(_ span: TimeSpan) -> String {
        let tenths = span.nanoseconds / 100_000_000
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
