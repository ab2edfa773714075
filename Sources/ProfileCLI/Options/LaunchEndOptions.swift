import ProcessIO
package import ProfileModel
package import Readiness
import Sampler

/// When `record` and `attach` consider a launch to be over.
package struct LaunchEndOptions: Hashable, Sendable {
    /// Whichever comes first; empty: the program's end.
    package var until: [ReadyCondition]
    /// How long recording goes on after that.
    package var extended: TimeSpan
    /// A longer launch has stalled; nil: no limit.
    package var watchdog: TimeSpan?

    /// True if the launch ends with something other than the program's end.
    package var awaitsReadiness: Bool { until.contains { $0 != .exit } }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        let subcommand = arguments.subcommand
        var conditions: [ReadyCondition] = []
        for text in arguments.texts(.until) {
            guard let condition = ReadyArgument.parse(text) else {
                throw UsageError(
                    subcommand,
                    "invalid until '\(text)': it " + ReadyArgument.expectation(subcommand))
            }
            try Self.check(condition, subcommand)
            if !conditions.contains(condition) { conditions.append(condition) }
        }
        until = conditions
        extended = arguments.duration(.extended) ?? .zero
        watchdog = arguments.duration(.watchdog)
        if extended > .zero, !awaitsReadiness {
            throw UsageError(
                subcommand,
                "--extended begins when the program is ready; say with --until when that is")
        }
    }

    private static func check(
        _ condition: ReadyCondition, _ subcommand: Subcommand
    ) throws(UsageError) {
        guard subcommand == .attach, !condition.suitsRunningProcess else { return }
        throw UsageError(
            .attach,
            "--until \(condition) needs a program that 'firstlight record' starts; a process that "
                + "runs already can be watched for listen, window and frame (on X11), idle, signpost "
                + "and mark")
    }
}
