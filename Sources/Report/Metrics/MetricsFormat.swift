package import Analysis

/// The formats for monitoring systems.
package enum MetricsFormat: String, CaseIterable, Sendable {
    /// Prometheus's text format.
    case prometheus
    /// OpenTelemetry's protocol, as JSON.
    case otlp
    /// The shape of MetricKit's payloads.
    case metrickit

    /// - Parameters:
    ///   - version: the version of firstlight.
    ///   - host: the name of this machine.
    ///   - date: now, in nanoseconds since 1970 UTC.
    package func render(
        _ metrics: LaunchMetrics, version: String, host: String, date: Int64
    ) -> String {
        switch self {
        case .prometheus: PrometheusText.render(metrics)
        case .metrickit: MetricKitJSON.render(metrics)
        case .otlp:
            OpenTelemetryJSON.render(
                metrics, version: version, host: host,
                from: min(max(metrics.since ?? date, 0), date), to: date)
        }
    }
}
