/// The figures of a program's launches.
public struct LaunchMeasurement: Hashable, Sendable {
    /// Where the program was found.
    public var program: String
    /// How many launches of the program count.
    public var count: Int
    /// From the moment the program was asked for to the launch's end, without what measuring took.
    public var wall: Spread<Duration>
    /// The launch's parts, in the order of time.
    public var phases: [Phase]
    /// CPU time of the process, and of its children that it waited for; nil: not known.
    public var cpu: Spread<Duration>?
    /// How long the first thread waited for something else than a core; nil: not known.
    public var mainBlocked: Spread<Duration>?
    /// Bytes read from disks; nil: not known.
    public var readBytes: Spread<Double>?
    /// All that were made, in their order, those that do not count included; with a baseline, the
    /// baseline's, too.
    public var launches: [Launch]
    /// What makes the figures less sure, in words.
    public var notes: [String]
    /// What became of the comparison; nil: there was no baseline.
    public var verdict: LaunchVerdict?

    /// What many launches have in common of one figure.
    public struct Spread<Value: Hashable & Comparable & Sendable>: Hashable, Sendable {
        /// Of how many launches.
        public var count: Int
        public var median: Value
        /// The interval that holds the true median in 95 of 100 cases; nil: too few launches.
        public var interval: ClosedRange<Value>?
        /// nil: fewer than 20 launches.
        public var percentile90: Value?
        public var minimum: Value
        public var maximum: Value
    }

    /// One phase over all launches that have it.
    public struct Phase: Hashable, Sendable {
        /// As `firstlight` reports name it: "Dynamic linking", "Main" …
        public var name: String
        public var wall: Spread<Duration>
        /// nil: not known.
        public var cpu: Spread<Duration>?
    }

    /// One launch.
    public struct Launch: Hashable, Sendable {
        /// Of the baseline's program, not of the one that is measured.
        public var isBaseline: Bool
        /// Why it does not count ("first", "failed", "hung" …); nil: it does.
        public var discarded: String?
        public var wall: Duration
        /// nil: not known.
        public var cpu: Duration?
        /// nil: not known.
        public var readBytes: Int64?
        /// What the program exited with; nil: it was ready, or a signal ended it.
        public var status: Int32?
    }
}

/// A launch against its baseline.
public struct LaunchVerdict: Hashable, Sendable {
    public enum Outcome: Hashable, Sendable {
        /// It is not slower by more than is allowed.
        case passed
        /// It is, and two blocks of launches say so.
        case failed
        /// Neither can be said.
        case inconclusive
    }

    public var outcome: Outcome
    /// The verdict, what it rests on, and what would help, in a sentence or two.
    public var sentence: String
    /// How much slower it is than the baseline, as a share: 0.05 is 5 %; negative: faster. nil: not
    /// known.
    public var change: Double?
    /// Bounds of ``change``; nil: not known.
    public var bounds: ClosedRange<Double>?
    /// How much slower a launch is, in time; nil: not known.
    public var difference: Duration?
}

/// Why there are no figures. `description` says what, where, and what to do.
public enum LaunchMetricError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no `firstlight`.
    case notInstalled(String)
    /// A parameter that makes no sense.
    case invalidArgument(String)
    /// `firstlight` ended with this status; `message` is what it said.
    case failed(status: Int32, message: String)
    /// What `firstlight` printed is not what this version of the library reads.
    case unreadable(String)
    /// The baseline was measured under other conditions.
    case notComparable(String)

    public var description: String {
        switch self {
        case .notInstalled(let text), .invalidArgument(let text), .unreadable(let text),
            .notComparable(let text):
            text
        case .failed(let status, let message):
            message.isEmpty ? "firstlight ended with status \(status)" : message
        }
    }
}
