import Analysis
import ProfileModel

/// One of the figures for monitoring systems, with its points: the same for all formats.
struct MetricFamily {
    typealias Label = (name: String, value: String)

    enum Points {
        /// In seconds.
        case histograms([(labels: [Label], histogram: LaunchHistogram)])
        case counters([(labels: [Label], count: Int64)])
    }

    /// The names in Prometheus and in OpenTelemetry.
    var name: (prometheus: String, openTelemetry: String)
    var help: String
    /// A counter's unit, in OpenTelemetry's terms.
    var unit = "s"
    var points: Points

    /// In order, without families that have no points.
    static func all(of metrics: LaunchMetrics) -> [MetricFamily] {
        let series = metrics.series.sorted { $0.key < $1.key }
        let families = [
            MetricFamily(
                name: ("firstlight_launch_seconds", "firstlight.launch"),
                help: "Launches, from exec to ready.",
                points: .histograms(series.map { ($0.labels, $1.launch) })),
            MetricFamily(
                name: ("firstlight_extended_launch_seconds", "firstlight.extended_launch"),
                help: "Launches including the time that was recorded after they were ready.",
                points: .histograms(series.map { ($0.labels, $1.extended) })),
            MetricFamily(
                name: ("firstlight_launch_phase_seconds", "firstlight.launch.phase"),
                help: "Phases of launches.",
                points: .histograms(
                    series.flatMap { key, series in
                        series.phases.sorted { $0.key < $1.key }
                            .map { (key.labels + [("phase", $0)], $1) }
                    })),
            MetricFamily(
                name: ("firstlight_launches_failed_total", "firstlight.launches.failed"),
                help: "Launches that failed, were not ready, or were struck by the watchdog.",
                unit: "{launch}",
                points: .counters(
                    series.flatMap { key, series in
                        series.failures.sorted { $0.key.rawValue < $1.key.rawValue }
                            .map { (key.labels + [("reason", $0.rawValue)], $1) }
                    })),
            MetricFamily(
                name: ("firstlight_merged_total", "firstlight.merged"),
                help:
                    "Counted as \(LaunchMetrics.other), because they have no series of their own.",
                unit: "1",
                points: .counters(
                    [("launch", metrics.merged), ("phase", metrics.mergedPhases)].map {
                        ([("what", $0.0)], $0.1)
                    })),
        ]
        return families.compactMap(\.withoutEmptyPoints)
    }

    private var withoutEmptyPoints: MetricFamily? {
        var result = self
        switch points {
        case .histograms(let list):
            let known = list.filter { $0.histogram.count > 0 }
            result.points = .histograms(known)
            return known.isEmpty ? nil : result
        case .counters(let list):
            let known = list.filter { $0.count > 0 }
            result.points = .counters(known)
            return known.isEmpty ? nil : result
        }
    }
}

extension LaunchMetrics.Labels {
    /// Without empty labels.
    fileprivate var labels: [MetricFamily.Label] {
        [
            ("program", program), ("version", version), ("machine", machine),
            ("conditions", conditions),
        ].filter { !$0.1.isEmpty }
    }
}
