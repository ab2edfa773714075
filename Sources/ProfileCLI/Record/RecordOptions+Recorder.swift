import CSystem
import Glibc
import Marks
import Readiness
import Runtimes
import Sampler
import Symbolicate

/// The options in the form that the recorder and its parts need.
extension RecordOptions {
    var startsProgram: Bool {
        if case .launch = target { return true }
        return false
    }

    var symbolCache: SymbolCache? { usesSymbolCache ? .ofUser : nil }

    /// nil: the user did not ask for Node's functions.
    func nodeRequest(in conditions: RecordingConditions?) -> NodeRequest? {
        runtime == .node ? NodeRequest(after: conditions?.changes ?? []) : nil
    }

    /// True if the program's output is watched for readiness, and `stream` of ours is a file.
    func watchesFile(_ stream: Int32) -> Bool {
        watchesOutput && Int(fl_stream_kind(stream)) == fl_stream_file
    }

    private var watchesOutput: Bool {
        end.until.contains { if case .output = $0 { true } else { false } }
    }

    /// If the program writes through our relay, we cannot see where its output goes.
    func line(on console: Console) -> RecordingLine? {
        guard !isQuiet, !watchesOutput || forcesProgress, !watchesFile(STDERR_FILENO) else {
            return nil
        }
        return RecordingLine(console.line, isForced: forcesProgress)
    }
}

extension SamplerOptions {
    init(_ options: RecordOptions) {
        self.init(
            frequency: options.frequency, duration: options.duration, capture: options.capture,
            stackBytes: options.stackBytes, followsChildren: options.followsChildren)
        asksScheduler = options.asksScheduler
        until = options.end.until
        extended = options.end.extended
        watchdog = options.end.watchdog
        if !options.marks.isEmpty { marks = PreparedPlanner(options.marks) }
    }
}
