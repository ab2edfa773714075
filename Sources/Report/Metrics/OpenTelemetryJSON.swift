import Analysis
import ProfileModel

/// Metrics as OTLP/JSON (opentelemetry-proto, ExportMetricsServiceRequest): enums are integers, 64-bit
/// integers texts, names lowerCamelCase; sums are cumulative, for Prometheus drops deltas.
enum OpenTelemetryJSON {
    /// - Parameters:
    ///   - version: of firstlight.
    ///   - host: of the machine that exports, by which its sums are told from others'.
    ///   - start: since when was counted, in nanoseconds since 1970 UTC.
    ///   - end: until when.
    static func render(
        _ metrics: LaunchMetrics, version: String, host: String, from start: Int64, to end: Int64
    ) -> String {
        var writer = JSONWriter()
        let render = Rendering(
            start: start, end: end, merged: metrics.merged, mergedPhases: metrics.mergedPhases)
        let series = metrics.series.sorted { $0.key < $1.key }
        writer.object { writer in
            writer.key("resourceMetrics")
            writer.array([0]) { writer, _ in
                writer.object { writer in
                    writer.key("resource")
                    writer.object { writer in
                        render.attributes(
                            [("service.name", "firstlight"), ("host.name", host)], &writer)
                    }
                    writer.key("scopeMetrics")
                    writer.array([0]) { writer, _ in
                        writer.object { writer in
                            writer.key("scope")
                            writer.object {
                                $0.field("name", "firstlight")
                                $0.field("version", version)
                            }
                            writer.key("metrics")
                            writer.tuple { render.metrics(series, &$0) }
                        }
                    }
                }
            }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private struct Rendering {
        let start: Int64
        let end: Int64
        let merged: Int64
        let mergedPhases: Int64

        /// AGGREGATION_TEMPORALITY_CUMULATIVE
        private static let cumulative = 2

        func metrics(
            _ series: [(key: LaunchMetrics.Labels, value: LaunchMetrics.Series)],
            _ writer: inout JSONWriter
        ) {
            histogram(
                "firstlight.launch", "Launches, from exec to ready.",
                series.map { ($0.pairs, $1.launch) }, &writer)
            histogram(
                "firstlight.extended_launch", "Launches with what followed readiness.",
                series.map { ($0.pairs, $1.extended) }, &writer)
            histogram(
                "firstlight.launch.phase", "Phases of launches.",
                series.flatMap { labels, series in
                    series.phases.sorted { $0.key < $1.key }.map { name, histogram in
                        (labels.pairs + [("phase", name)], histogram)
                    }
                }, &writer)
            counter(
                "firstlight.launches.failed", "Launches that failed or were not ready.",
                "{launch}",
                series.flatMap { labels, series in
                    series.failures.sorted { $0.key.rawValue < $1.key.rawValue }
                        .map { (labels.pairs + [("reason", $0.rawValue)], $1) }
                }, &writer)
            let merged = [("launch", self.merged), ("phase", mergedPhases)]
            counter(
                "firstlight.merged",
                "Counted as \(LaunchMetrics.other), for want of a series of their own.", "1",
                merged.filter { $0.1 > 0 }.map { ([("what", $0.0)], $0.1) }, &writer)
        }

        private func histogram(
            _ name: String, _ description: String,
            _ points: [([(String, String)], LaunchHistogram)], _ writer: inout JSONWriter
        ) {
            let known = points.filter { $0.1.count > 0 }
            guard !known.isEmpty else { return }
            metric(name, description, "s", "histogram", &writer) { writer in
                writer.array(known) { writer, point in
                    let (pairs, histogram) = point
                    self.point(pairs, &writer) { writer in
                        writer.field("count", "\(histogram.count)")
                        writer.key("sum")
                        writer.decimal(histogram.sum.nanoseconds, digits: 9)
                        writer.key("bucketCounts")
                        writer.array(histogram.counts) { $0.value("\($1)") }
                        writer.key("explicitBounds")
                        writer.array(LaunchHistogram.bounds) { writer, bound in
                            writer.decimal(bound.nanoseconds, digits: 9)
                        }
                    }
                }
            }
        }

        private func counter(
            _ name: String, _ description: String, _ unit: String,
            _ points: [([(String, String)], Int64)], _ writer: inout JSONWriter
        ) {
            guard !points.isEmpty else { return }
            metric(name, description, unit, "sum", &writer) { writer in
                writer.array(points) { writer, point in
                    self.point(point.0, &writer) { $0.field("asInt", "\(point.1)") }
                }
            }
        }

        private func metric(
            _ name: String, _ description: String, _ unit: String, _ kind: String,
            _ writer: inout JSONWriter, _ points: (inout JSONWriter) -> Void
        ) {
            writer.object { writer in
                writer.field("name", name)
                writer.field("description", description)
                writer.field("unit", unit)
                writer.key(kind)
                writer.object { writer in
                    writer.key("dataPoints")
                    points(&writer)
                    writer.field("aggregationTemporality", Self.cumulative)
                    if kind == "sum" {
                        writer.key("isMonotonic")
                        writer.value(true)
                    }
                }
            }
        }

        func attributes(_ pairs: [(String, String)], _ writer: inout JSONWriter) {
            writer.key("attributes")
            writer.array(pairs) { writer, pair in
                writer.object { writer in
                    writer.field("key", pair.0)
                    writer.key("value")
                    writer.object { $0.field("stringValue", pair.1) }
                }
            }
        }

        private func point(
            _ pairs: [(String, String)], _ writer: inout JSONWriter,
            _ body: (inout JSONWriter) -> Void
        ) {
            writer.object { writer in
                attributes(pairs, &writer)
                writer.field("startTimeUnixNano", "\(start)")
                writer.field("timeUnixNano", "\(end)")
                body(&writer)
            }
        }
    }
}
