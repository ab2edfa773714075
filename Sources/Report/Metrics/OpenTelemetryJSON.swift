import Analysis
import Exports
import ProfileModel

/// Metrics as OTLP/JSON (opentelemetry-proto, ExportMetricsServiceRequest): enums are integers,
/// 64-bit integers are texts, names are lowerCamelCase. Sums are cumulative, because Prometheus
/// drops deltas.
enum OpenTelemetryJSON {
    /// - Parameters:
    ///   - version: the version of firstlight.
    ///   - host: the exporting machine's name, which distinguishes its sums from others'.
    ///   - start: when counting began, in nanoseconds since 1970 UTC.
    ///   - end: when it ended.
    static func render(
        _ metrics: LaunchMetrics, version: String, host: String, from start: Int64, to end: Int64
    ) -> String {
        var writer = JSONWriter()
        let rendering = Rendering(start: start, end: end)
        writer.object { writer in
            writer.key("resourceMetrics")
            writer.array([0]) { writer, _ in
                writer.object { writer in
                    writer.key("resource")
                    writer.object {
                        rendering.attributes(
                            [("service.name", "firstlight"), ("host.name", host)], &$0)
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
                            writer.array(MetricFamily.all(of: metrics)) {
                                rendering.metric($1, &$0)
                            }
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

        /// AGGREGATION_TEMPORALITY_CUMULATIVE
        private static let cumulative = 2

        func metric(_ family: MetricFamily, _ writer: inout JSONWriter) {
            writer.object { writer in
                writer.field("name", family.name.openTelemetry)
                writer.field("description", family.help)
                writer.field("unit", family.unit)
                switch family.points {
                case .histograms(let points):
                    writer.key("histogram")
                    writer.object { writer in
                        writer.key("dataPoints")
                        writer.array(points) { histogram($1.histogram, $1.labels, &$0) }
                        writer.field("aggregationTemporality", Self.cumulative)
                    }
                case .counters(let points):
                    writer.key("sum")
                    writer.object { writer in
                        writer.key("dataPoints")
                        writer.array(points) { writer, counter in
                            point(counter.labels, &writer) {
                                $0.field("asInt", "\(counter.count)")
                            }
                        }
                        writer.field("aggregationTemporality", Self.cumulative)
                        writer.field("isMonotonic", true)
                    }
                }
            }
        }

        private func histogram(
            _ histogram: LaunchHistogram, _ labels: [MetricFamily.Label],
            _ writer: inout JSONWriter
        ) {
            point(labels, &writer) { writer in
                writer.field("count", "\(histogram.count)")
                writer.key("sum")
                writer.decimal(histogram.sum.nanoseconds, digits: 9)
                writer.key("bucketCounts")
                writer.array(histogram.counts) { $0.value("\($1)") }
                writer.key("explicitBounds")
                writer.array(LaunchHistogram.bounds) { $0.decimal($1.nanoseconds, digits: 9) }
            }
        }

        private func point(
            _ labels: [MetricFamily.Label], _ writer: inout JSONWriter,
            _ body: (inout JSONWriter) -> Void
        ) {
            writer.object { writer in
                attributes(labels, &writer)
                writer.field("startTimeUnixNano", "\(start)")
                writer.field("timeUnixNano", "\(end)")
                body(&writer)
            }
        }

        func attributes(_ labels: [MetricFamily.Label], _ writer: inout JSONWriter) {
            writer.key("attributes")
            writer.array(labels) { writer, label in
                writer.object { writer in
                    writer.field("key", label.name)
                    writer.key("value")
                    writer.object { $0.field("stringValue", label.value) }
                }
            }
        }
    }
}
