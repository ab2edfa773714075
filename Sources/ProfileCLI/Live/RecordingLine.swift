import Analysis
import Glibc
package import ProfileModel
package import Recorder
import Report
import Sampler
import System

/// The line that shows how far a recording is.
///
/// What the program writes must stay readable. Nobody can know when it will write next, so the
/// line stands only where the program's output goes elsewhere, or somebody has asked for it.
package struct RecordingLine: Sendable {
    private let line: LiveLine
    private let device: dev_t
    private let isForced: Bool

    /// - Parameters:
    ///   - line: nil is returned for one that cannot be seen.
    ///   - isForced: whether it stands on the program's own terminal, too.
    init?(_ line: LiveLine, isForced: Bool) {
        guard line.isVisible, let device = OutputPlace.device(of: line.stream) else { return nil }
        self.line = line
        self.device = device
        self.isForced = isForced
    }

    func show(_ progress: RecordingProgress) {
        guard isForced || !OutputPlace.mayBe(device, of: progress.pid) else { return line.wipe() }
        line.show(Self.text(progress, at: .now))
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
        return switch progress.mark {
        case nil, .spawned: Phase.Names.creation
        // Without a dynamic linker, that phase does not occur.
        case .firstInstruction: "before main"
        case .relocated: Phase.Names.initialisers
        case .main: Phase.Names.main
        case .attached: Phase.Names.attached
        case .ended, .held, .released: "the end"
        }
    }

    /// To a tenth, so that the line does not dance.
    private static func seconds(_ span: TimeSpan) -> String {
        let tenths = span.nanoseconds / 100_000_000
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
