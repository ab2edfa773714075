import Exports
import Launching
import ProfileModel
import Report
import Sampler

/// The messages of `watch`. Names and paths may contain anything.
enum WatchWords {
    static func watching(_ names: WatchedNames, in folder: String) -> String {
        let what =
            switch names {
            case .all: "all programs"
            case .programs(let names):
                names.map { $0.description.escapedForDisplay }.joined(separator: ", ")
            }
        return "watching \(what); launches are kept in \(folder) (Ctrl-C ends)"
    }

    /// One line for standard output; it means that the launch is stored.
    static func kept(_ kept: LaunchKeeper.Kept, of watched: WatchedLaunch) -> String {
        let launch = kept.launch
        return "kept \(watched.program.name.escapedForDisplay) \(Numbers.preciseTime(launch.wall)) "
            + "\(status(launch.outcome)) pid \(watched.pid) start \(launch.start.nanoseconds) ns "
            + "in \(kept.file.escapedForDisplay)\n"
    }

    private static func status(_ outcome: Recording.Outcome) -> String {
        switch outcome {
        case .exited(let status): "status \(status)"
        case .signalled(let signal): "signal \(signal)"
        case .running, .unknown: "status unknown"
        }
    }

    static func lost(_ events: Int64) -> String {
        (events == 0
            ? "events were" : Numbers.count(events, "event") + (events == 1 ? " was" : " were"))
            + " lost, because the kernel had no room left: launches may be missing"
    }

    static func dropped(limit: Int64, in folder: String) -> String {
        "the files in \(folder) exceed --keep \(Numbers.bytes(limit)): the oldest are deleted"
    }

    /// The results for all launches, and for what should have been launches.
    struct Summary {
        var kept = 0
        var notKept = 0
        var running = 0
        var tally = WatchTally()
        var dropped = LaunchKeeper.Dropped()
        var recorded = 0
        var notRecorded = 0

        var text: String {
            var parts = ["\(Numbers.launches(kept)) kept"]
            func add(_ count: Int, _ text: String) {
                if count > 0 { parts.append("\(Numbers.grouped(count)) \(text)") }
            }
            add(notKept, "not kept (see above)")
            add(running, "still running, and not kept")
            add(tally.partial, "seen only in part, and not kept")
            add(tally.unnamed, "could not be named, and may be missing")
            if tally.lostEvents > 0 {
                parts.append("\(Numbers.count(tally.lostEvents, "event")) lost")
            }
            add(dropped.launches, "deleted from the folder, also from earlier runs (--keep)")
            add(recorded, "recorded with stacks")
            add(
                notRecorded,
                "not recorded (one at a time, --profile-budget, --keep, or over too soon)")
            return parts.joined(separator: "; ")
        }
    }
}
