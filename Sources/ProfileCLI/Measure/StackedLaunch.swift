import Analysis
import Conditions
import Glibc
import Launching
import Measurer
import ProfileModel
import Readiness
import Recording
import Sampler

/// A launch with stacks, under the conditions of the measured ones.
struct StackedLaunch {
    let options: MeasureOptions
    let launcher: ProgramLauncher

    /// Records a launch, and reads the recording.
    ///
    /// - Parameters:
    ///   - arm: the program.
    ///   - tell: receives the reason if there is no recording.
    /// - Returns: nil: there is none.
    func record(
        arm: Int, to path: String, tell: (String) -> Void
    ) throws(MeasuringFailure) -> Profile? {
        guard launcher.arms.indices ~= arm else { return nil }
        let launched = launcher.arms[arm]
        guard let record = options.recordOptions(of: launched.command, to: path) else { return nil }
        try launcher.renew(launched, isFirst: false)
        guard let streams = StdioRedirect() else {
            tell("the launch with stacks could not be recorded: there are no descriptors left")
            return nil
        }
        // The program's output is not shown.
        let status = RecordingRun.run(
            record, streams.console, in: RecordingConditions(launched.conditions))
        _ = launched.conditions.clean()
        streams.restore()
        guard let recording = try? RecordingReader.load(path: path) else {
            tell("the launch with stacks could not be recorded (status \(status))")
            return nil
        }
        return Profile(recording)
    }
}

extension MeasureOptions {
    /// Options for `record`; nil: they are invalid, which should never happen.
    fileprivate func recordOptions(of program: [CommandWord], to path: String) -> RecordOptions? {
        var arguments = ParsedArguments(subcommand: .record)
        arguments.program = program
        arguments.operands = program.map(\.text)
        arguments.options[.output] = .text(path)
        arguments.options[.quiet] = .given
        arguments.options[.after] = .text(after.rawValue)
        arguments.lists[.until] = end.until.map { .text($0.description) }
        if let watchdog = end.watchdog { arguments.options[.watchdog] = .duration(watchdog) }
        return try? RecordOptions(arguments)
    }
}

/// Replaces our standard output and error while a program that inherits them must not write there.
struct StdioRedirect: ~Copyable {
    private let output: Int32
    private let error: Int32

    /// nil: no descriptors are left. Output to the streams is lost until ``restore()``.
    init?() {
        let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
        output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
        error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
        guard nowhere >= 0, output >= 0, error >= 0 else {
            for descriptor in [nowhere, output, error] where descriptor >= 0 { close(descriptor) }
            return nil
        }
        dup2(nowhere, STDOUT_FILENO)
        dup2(nowhere, STDERR_FILENO)
        close(nowhere)
    }

    /// A console for the original streams.
    var console: Console { Console(output: output, error: error) }

    consuming func restore() {
        dup2(output, STDOUT_FILENO)
        dup2(error, STDERR_FILENO)
        close(output)
        close(error)
    }
}
