/// Launches a program several times, measures how long that takes, and checks it against a
/// baseline. For tests with XCTest or Swift Testing.
///
/// ```swift
/// @Test func launch() async throws {
///     try await measureLaunch(
///         of: "build/app", until: .ready, baseline: .command(["build/app-before"]))
/// }
/// ```
///
/// The installed `firstlight` makes the launches: the one that the environment variable
/// `FIRSTLIGHT` names, else the first in `PATH`. The first launch is discarded. No stacks are
/// taken.
///
/// With a baseline, `firstlight gate` decides. The test fails (an issue is recorded at the caller's
/// line) if the launch is certainly slower than the baseline's, by more than `maxRegression` and by
/// more than 2 ms, and a second block of launches confirms this. If nothing is certain, there is
/// only a warning: more launches help, or a less busy machine.
///
/// Measuring is exclusive: two calls in one process wait for each other. The library cannot know
/// whether other tests run at the same time; run these alone (`swift test --no-parallel --filter
/// …`).
///
/// - Parameters:
///   - program: its path, or a name that is looked up in `PATH`.
///   - arguments: the program's arguments, without its name.
///   - launches: how many should count, 1 to 100,000. With a baseline, at most that many of each,
///     and at least 7 (up to 10,000): the gate ends as soon as it is certain.
///   - end: when a launch is over. The program is ended then.
///   - coldness: the content of the page cache, as far as the program's files are concerned.
///   - baseline: the program or measurement to compare with; nil: none, and no figure makes the
///     test fail.
///   - maxRegression: how much slower is allowed, as a fraction: 0.03 is 3 %. From 0 to 1.
///   - path: where to store the measurement, like `firstlight measure -o`; nil: nowhere. It can be
///     a later test's baseline.
///   - options: further options of `firstlight measure`, as `["--network", "3G"]`; with a
///     baseline, of `firstlight gate`.
/// - Returns: the figures of all launches.
/// - Throws: ``LaunchMetricError``: there are no figures. `CancellationError`: the task was
///   cancelled; all launched programs have ended.
@discardableResult
public func measureLaunch(
    of program: String, arguments: [String] = [], launches: Int = 10, until end: LaunchEnd = .exit,
    coldness: Coldness = .warm, baseline: LaunchBaseline? = nil, maxRegression: Double = 0.03,
    saveTo path: String? = nil, options: [String] = [], fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
) async throws -> LaunchMeasurement {
    let place = TestPlace(fileID: fileID, filePath: filePath, line: line, column: column)
    let request = LaunchRequest(
        program: program, arguments: arguments, launches: launches, end: end, coldness: coldness,
        options: options)
    let run = try MetricRun(
        tool: try FirstlightTool.find(), request: request, baseline: baseline,
        maxRegression: maxRegression)
    let measurement = try await MeasuringTurn.shared.take { try await run.measure(saveTo: path) }
    if let verdict = measurement.verdict { TestReport.tell(verdict, at: place) }
    return measurement
}

/// When a launch is over, as for `firstlight measure --until`.
public struct LaunchEnd: Hashable, Sendable {
    /// Conditions in the words of `--until`; whichever is met first counts.
    var conditions: [String]

    /// The program ends.
    public static let exit = LaunchEnd(conditions: ["exit"])
    /// It says that it is ready: `READY=1` to NOTIFY_SOCKET, as by sd_notify(3).
    public static let ready = LaunchEnd(conditions: ["notify"])
    /// It accepts connections on a stream socket that it has opened.
    public static let listening = LaunchEnd(conditions: ["listen"])
    /// It writes its first byte to standard output or error.
    public static let output = LaunchEnd(conditions: ["output"])
    /// Its first top-level window is shown.
    public static let window = LaunchEnd(conditions: ["window"])
    /// It has drawn its first frame.
    public static let frame = LaunchEnd(conditions: ["frame"])

    /// It accepts connections at this TCP port.
    public static func listening(port: UInt16) -> LaunchEnd {
        LaunchEnd(conditions: ["listen:\(port)"])
    }

    /// It writes a line with this text to standard output or error.
    public static func output(containing text: String) -> LaunchEnd {
        LaunchEnd(conditions: ["output:" + text])
    }

    /// All its threads have been blocked for this long. The launch was over when that time began.
    public static func idle(for time: Duration) -> LaunchEnd {
        LaunchEnd(conditions: ["idle:\(time.nanoseconds)ns"])
    }

    /// Another condition, in the words of `--until`.
    public static func condition(_ text: String) -> LaunchEnd { LaunchEnd(conditions: [text]) }

    /// Whichever of these comes first.
    public static func any(of ends: LaunchEnd...) -> LaunchEnd {
        LaunchEnd(conditions: ends.flatMap(\.conditions))
    }
}

/// The content of the page cache when a program is launched, as far as its files are concerned.
public enum Coldness: Hashable, Sendable {
    /// Everything that the previous launch left there.
    case warm
    /// None of the files that the last launch used. A launch that was not cold does not count.
    case cold
    /// Nothing at all. Only root can do this.
    case allCold
}

/// The program or measurement that a launch is compared with.
public enum LaunchBaseline: Hashable, Sendable {
    /// A program and its arguments. It takes turns with the measured one. Only such a comparison is
    /// safe from other work on the machine.
    case command([String])
    /// A stored measurement (`saveTo`, `firstlight measure -o`). If its program still exists
    /// unchanged, and is not the measured one, they take turns as with ``command(_:)``. Otherwise
    /// the stored figures can only advise: the test passes, perhaps with a warning.
    case file(String)
}

extension Duration {
    /// Clamped to 64 bits.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowSum) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        guard !overflow, !overflowSum else { return seconds < 0 ? .min : .max }
        return sum
    }
}
