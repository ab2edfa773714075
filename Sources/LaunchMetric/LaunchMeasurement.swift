/// The figures of a program's launches.
public struct LaunchMeasurement: Hashable, Sendable {
    /// Where the program was found.
    public var program: String
    /// How many launches of the program count.
    public var count: Int
    /// From the request for the program to the launch's end, without the cost of measuring.
    public var wall: Spread<Duration>
    /// The launch's parts, in the order of time.
    public var phases: [Phase]
    /// CPU time of the process's own threads; nil: unknown.
    public var cpu: Spread<Duration>?
    /// How long the first thread waited for something other than a core; nil: unknown.
    public var mainBlocked: Spread<Duration>?
    /// Bytes read from disks; nil: unknown.
    public var readBytes: Spread<Double>?
    /// All launches, in their order, including those that do not count; with a baseline, the
    /// baseline's, too.
    public var launches: [Launch]
    /// Remarks on what makes the figures less certain.
    public var notes: [String]
    /// The result of the comparison; nil: there was no baseline.
    public var verdict: LaunchVerdict?

    /// The distribution of one figure over many launches.
    public struct Spread<Value: Hashable & Comparable & Sendable>: Hashable, Sendable {
        /// The number of launches.
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
        /// The name in `firstlight` reports: "Dynamic linking", "Main" …
        public var name: String
        public var wall: Spread<Duration>
        /// nil: unknown.
        public var cpu: Spread<Duration>?
    }

    /// One launch.
    public struct Launch: Hashable, Sendable {
        /// True for the baseline's program, false for the measured one.
        public var isBaseline: Bool
        /// Why it does not count ("first", "failed", "hung" …); nil: it counts.
        public var discarded: String?
        public var wall: Duration
        /// nil: unknown.
        public var cpu: Duration?
        /// nil: unknown.
        public var readBytes: Int64?
        /// The program's exit status; nil: it was ready, or a signal ended it.
        public var status: Int32?
    }
}

/// The comparison of launches with their baseline.
public struct LaunchVerdict: Hashable, Sendable {
    public enum Outcome: Hashable, Sendable {
        /// The program is not slower by more than is allowed.
        case passed
        /// The program is slower by more than is allowed, and two blocks of launches confirm this.
        case failed
        /// Neither is certain.
        case inconclusive
    }

    public var outcome: Outcome
    /// The verdict, its grounds, and advice if it is not certain, in a sentence or two.
    public var sentence: String
    /// How much slower it is than the baseline, as a fraction: 0.05 is 5 %; negative: faster. nil:
    /// unknown.
    public var change: Double?
    /// Bounds of ``change``; nil: unknown.
    public var bounds: ClosedRange<Double>?
    /// How much slower a launch is, in time; nil: unknown.
    public var difference: Duration?
}

/// Why there are no figures. `description` gives the problem, its place, and the remedy.
public enum LaunchMetricError: Error, Hashable, Sendable, CustomStringConvertible {
    /// `firstlight` is not installed.
    case notInstalled(String)
    /// A parameter is invalid.
    case invalidArgument(String)
    /// `firstlight` ended with this status; `message` is its message.
    case failed(status: Int32, message: String)
    /// This version of the library cannot read the output of `firstlight`.
    case unreadable(String)

    public var description: String {
        switch self {
        case .notInstalled(let text), .invalidArgument(let text), .unreadable(let text):
            text
        case .failed(let status, let message):
            message.isEmpty ? "firstlight ended with status \(status)" : message
        }
    }
}
