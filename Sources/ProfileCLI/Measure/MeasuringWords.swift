import Exports
package import Measurer
package import ProfileModel
import Report

/// Texts about a measurement, besides its figures.
package struct MeasuringWords: Sendable {
    /// The names of the arms.
    package var names: [String]
    package var watchdog: TimeSpan?
    /// What ends a launch, in the words of `--until`; empty: the program's end.
    package var until: [String]
    /// True if incomplete results are shown after an interruption.
    package var showsPart = true

    package init(names: [String], watchdog: TimeSpan?, until: [String]) {
        self.names = names
        self.watchdog = watchdog
        self.until = until
    }

    /// "firstlight: launch 7, 5 of 10 count"
    package func progress(_ progress: MeasuringProgress) -> String {
        "firstlight: launch \(Numbers.grouped(progress.index + 1)), "
            + "\(Numbers.grouped(progress.counted)) of \(Numbers.grouped(progress.requested)) count"
    }

    /// One line about a launch that failed; nil: it did not.
    package func complaint(_ launch: MeasuredLaunch, index: Int) -> String? {
        guard let reason = problem(launch) else { return nil }
        return
            "launch \(Numbers.grouped(index + 1)) of \(name(launch.arm)) does not count: \(reason)"
    }

    /// Why there are no more launches, in one line; nil: there are enough, or the reason is
    /// obvious.
    ///
    /// - Parameter details: more on why launches did not count.
    package func ending(
        _ end: MeasuringEnd, details: [MeasuredLaunch.Discard: String] = [:]
    ) -> String? {
        switch end {
        case .complete: return nil
        case .interrupted:
            return "interrupted: "
                + (showsPart ? "only what was measured until then is shown" : "there is no answer")
        case .failed(let failure): return failure.message
        case .gaveUp(let arm, let reason, let counted):
            let found = counted == 0 ? "no launch" : "only " + Numbers.launches(counted)
            return "given up: \(found) of \(name(arm)) \(counted < 2 ? "counts" : "count"): "
                + plural(reason) + (details[reason].map { " (\($0))" } ?? "")
        }
    }

    /// How far a launch with stacks was from the median, and where it was stored.
    package static func typical(path: String, wall: TimeSpan, median: TimeSpan) -> String {
        let (less, more) = (min(wall, median), max(wall, median))
        let distance = Numbers.percent(more - less, of: median)
        let words =
            wall == median
            ? "as the median" : "\(distance) \(wall < median ? "below" : "above") the median"
        return "\(path): one launch with stacks, \(Numbers.preciseTime(wall)), \(words) of "
            + "\(Numbers.preciseTime(median)); 'firstlight report' shows it"
    }

    /// The program's last lines, to be shown below a complaint.
    package static func quoted(_ output: String) -> String {
        output.split(separator: "\n").suffix(mostLines)
            .map { "  | " + Console.oneLine(String($0)) + "\n" }.joined()
    }

    private static let mostLines = 20

    private func name(_ arm: Int) -> String { names.indices ~= arm ? names[arm] : "the program" }

    private func problem(_ launch: MeasuredLaunch) -> String? {
        switch launch.discarded {
        case nil, .first, .interrupted, .warm, .recorded: return nil
        case .failed:
            guard case .signalled(let signal) = launch.outcome else { return "it failed" }
            return "signal \(signal) ended it"
        case .hung: return "it hung" + limit
        case .notReady: return "the program ended before it was ready" + awaited
        case .otherStatus:
            guard case .exited(let status) = launch.outcome else { return "it ended differently" }
            return "it ended with status \(status), but most did not"
        }
    }

    private func plural(_ reason: MeasuredLaunch.Discard) -> String {
        switch reason {
        case .failed: "they failed"
        case .hung: "they hung" + limit
        case .notReady: "the program ended before it was ready" + awaited
        case .otherStatus: "they ended with different statuses"
        case .warm: "they were not cold"
        case .first, .interrupted, .recorded: "they were not to count"
        }
    }

    /// " (not over within 60.0 s; --watchdog allows more)"
    private var limit: String {
        watchdog.map { " (not over within \(Numbers.time($0)); --watchdog allows more)" } ?? ""
    }

    private var awaited: String {
        until.isEmpty ? "" : " (\(until.joined(separator: ", ")))"
    }
}
