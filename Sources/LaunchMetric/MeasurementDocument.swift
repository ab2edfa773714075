import Foundation

/// A measurement as `firstlight measure` and `firstlight report` print it with `--format json`, as
/// far as it is used here (docs/json.md). Unknown members are ignored; missing ones are an error.
struct MeasurementDocument: Decodable, Sendable {
    /// The schema that we read.
    static let schema = 1

    struct Program: Decodable, Sendable {
        var path: String
    }

    struct Launch: Decodable, Sendable {
        var arm: Int
        var discarded: String?
        var wallNs: Int64
        var cpuNs: Int64?
        var readBytes: Int64?
        var status: Int32?
    }

    struct Times: Decodable, Sendable {
        var n: Int
        var medianNs: Double
        var lowNs: Double?
        var highNs: Double?
        var p90Ns: Double?
        var minNs: Double
        var maxNs: Double
    }

    struct Counts: Decodable, Sendable {
        var n: Int
        var median: Double
        var low: Double?
        var high: Double?
        var p90: Double?
        var min: Double
        var max: Double
    }

    struct Phase: Decodable, Sendable {
        var name: String
        var wall: Times
        var cpu: Times?
    }

    struct Summary: Decodable, Sendable {
        /// nil: no launch counts.
        var wall: Times?
        var phases: [Phase]
        var cpu: Times?
        var mainBlocked: Times?
        var readBytes: Counts?
    }

    struct Note: Decodable, Sendable {
        var text: String
    }

    var program: Program
    var launches: [Launch]
    var summary: Summary
    var notes: [Note]

    init(_ data: Data) throws(LaunchMetricError) {
        self = try ReportKind.decode(data, "measurement", schema: Self.schema)
    }
}

extension MeasurementDocument {
    /// nil: no launch counts.
    var figures: LaunchMeasurement? {
        guard let wall = summary.wall?.spread else { return nil }
        return LaunchMeasurement(
            program: program.path, count: wall.count, wall: wall,
            phases: summary.phases.map { phase in
                .init(name: phase.name, wall: phase.wall.spread, cpu: phase.cpu?.spread)
            },
            cpu: summary.cpu?.spread, mainBlocked: summary.mainBlocked?.spread,
            readBytes: summary.readBytes?.spread, launches: launches.map(\.launch),
            notes: notes.map(\.text), verdict: nil)
    }
}

extension MeasurementDocument.Launch {
    var launch: LaunchMeasurement.Launch {
        .init(
            isBaseline: arm == 1, discarded: discarded, wall: .nanoseconds(wallNs),
            cpu: cpuNs.map { .nanoseconds($0) }, readBytes: readBytes, status: status)
    }
}

extension MeasurementDocument.Times {
    var spread: LaunchMeasurement.Spread<Duration> {
        .init(
            count: n, median: .time(medianNs),
            interval: LaunchMetric.interval(lowNs, highNs, Duration.time),
            percentile90: p90Ns.map(Duration.time), minimum: .time(minNs), maximum: .time(maxNs))
    }
}

extension MeasurementDocument.Counts {
    var spread: LaunchMeasurement.Spread<Double> {
        .init(
            count: n, median: median, interval: LaunchMetric.interval(low, high) { $0 },
            percentile90: p90,
            minimum: min, maximum: max)
    }
}

extension Duration {
    /// From a number in the file, which may have any value.
    static func time(_ nanoseconds: Double) -> Duration {
        guard nanoseconds.isFinite else { return .zero }
        return .nanoseconds(Int64(min(max(nanoseconds, -9e18), 9e18)))
    }
}

/// nil: one of the ends is unknown, or they are in the wrong order.
func interval<Value: Comparable>(
    _ low: Double?, _ high: Double?, _ value: (Double) -> Value
) -> ClosedRange<Value>? {
    guard let low, let high, low <= high else { return nil }
    return value(low)...value(high)
}
