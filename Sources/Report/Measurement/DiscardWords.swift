import Architecture
import ProfileModel

/// Why launches do not count, in words, and as a letter in the strip.
enum DiscardWords {
    static func mark(_ discard: MeasuredLaunch.Discard) -> Character {
        switch discard {
        case .first: "f"
        case .warm: "w"
        case .failed: "x"
        case .otherStatus: "s"
        case .hung: "h"
        case .notReady: "n"
        case .interrupted: "i"
        case .recorded: "r"
        }
    }

    static func text(_ discard: MeasuredLaunch.Discard) -> String {
        switch discard {
        case .first: "the first of its program"
        case .warm: "not proven to be cold"
        case .failed: "failed"
        case .otherStatus: "a different status than most"
        case .hung: "not ready in time (--watchdog)"
        case .notReady: "ended before it was ready"
        case .interrupted: "interrupted"
        case .recorded: "stacks were taken during it"
        }
    }
}

/// How a launch's program ended.
enum OutcomeWords {
    static func text(_ outcome: Recording.Outcome) -> String {
        switch outcome {
        case .exited(let status): "exited with status \(status)"
        case .signalled(let signal): "killed by \(SignalNames.label(signal))"
        case .running: "ready, and still running"
        case .unknown: "it is not known how it ended"
        }
    }
}
