import Foundation

/// The output of `firstlight measure --format json`, as far as it is used here (docs/json.md).
/// Unknown members are ignored; missing ones are an error.
struct MeasurementDocument: Decodable, Sendable {
    /// The schema that we read.
    static let schema = 1

    struct Program: Decodable, Sendable {
        var path: String
        /// The command as given, with the program's name.
        var arguments: [String]
    }

    struct Header: Decodable, Sendable {
        var ending: String
        /// When it began, in nanoseconds since 1970.
        var dateNs: Int64
    }

    struct Machine: Decodable, Hashable, Sendable {
        var host: String
        var kernel: String
        var boot: String?
    }

    struct Conditions: Decodable, Hashable, Sendable {
        var cache: String
        /// The files that are removed from the page cache before each launch; nil: none.
        var dropped: String?
        var network: String?
        var disk: Int64?
        var until: [String]?
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

    struct Comparison: Decodable, Sendable {
        var pairs: Int
        var change: Double
        var low: Double
        var high: Double
        /// The confidence of each bound.
        var confidence: Double
        var differenceNs: Double
        var differenceLowNs: Double
        var differenceHighNs: Double
        /// The smallest change that could have been detected; nil: none.
        var detectable: Double?
    }

    struct Note: Decodable, Sendable {
        var text: String
    }

    var schema: Int
    var kind: String
    var program: Program
    var measurement: Header
    var machine: Machine
    var conditions: Conditions
    var launches: [Launch]
    var summary: Summary
    var comparison: Comparison?
    var notes: [Note]

    init(_ data: Data) throws(LaunchMetricError) {
        do {
            let kind = try JSONDecoder().decode(Kind.self, from: data)
            guard kind.kind == "measurement" else {
                throw LaunchMetricError.unreadable(
                    "firstlight printed no measurement, but \(kind.kind ?? "something else")")
            }
            guard kind.schema == Self.schema else {
                throw LaunchMetricError.unreadable(
                    "firstlight prints schema \(kind.schema), and LaunchMetric reads schema "
                        + "\(Self.schema); use the same version of both")
            }
            self = try JSONDecoder().decode(MeasurementDocument.self, from: data)
        } catch let error as LaunchMetricError {
            throw error
        } catch {
            throw .unreadable("cannot read what firstlight printed: \(error)")
        }
    }

    /// The members that all reports have in common.
    private struct Kind: Decodable {
        var schema: Int
        var kind: String?
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
