import Agent
import CSystem
import Glibc
import Marks
import ProfileModel
import Readiness
import Runtimes
import Sampler
import Symbolicate
import Unwind

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

extension UnwindEngine {
    /// True if the engine's library is installed. Otherwise complains and names the library.
    func isUsable(_ console: Console) -> Bool {
        guard let library = missingLibrary else { return true }
        console.complain(
            "--unwinder \(rawValue) needs \(library), which cannot be loaded "
                + "(Debian's package: libunwind8)")
        return false
    }
}

/// Connects the sampler to the planner. The sampler does not know files and instructions; the
/// planner does not know processes.
extension PreparedPlanner: MarkPlanner {}

extension NodeRequest {
    /// For a program that gets our environment.
    ///
    /// - Parameter changes: the other changes to the program's environment.
    init(after changes: [EnvironmentChange]) {
        let name = Array(NodeOptions.variable.utf8)
        let value =
            changes.last { $0.name == name }.map(\.value) ?? Self.ownValue(NodeOptions.variable)
        self.init(completing: value, start: time(nil))
    }

    /// The variable's bytes, which may not be valid text.
    private static func ownValue(_ name: String) -> [UInt8]? {
        guard let value = getenv(name) else { return nil }
        return value.withMemoryRebound(to: UInt8.self, capacity: strlen(value)) {
            Array(UnsafeBufferPointer(start: $0, count: strlen(value)))
        }
    }
}
