import Analysis
import Exports
import ProfileModel

/// Metrics in the shape of MetricKit's MXMetricPayload, as in its `jsonRepresentation()`, one
/// payload for each series; plus the true sum, which MetricKit lacks. Resumes are not launches and
/// are not measured, so their field is missing.
enum MetricKitJSON {
    static func render(_ metrics: LaunchMetrics) -> String {
        var writer = JSONWriter()
        writer.array(metrics.series.sorted { $0.key < $1.key }, inLines: true) { writer, element in
            let (labels, series) = element
            writer.object { writer in
                writer.field("program", labels.program)
                writer.field("appVersion", labels.version)
                writer.field("deviceType", labels.machine)
                writer.field("conditions", labels.conditions)
                writer.key("applicationLaunchMetrics")
                writer.object { writer in
                    histogram("histogrammedTimeToFirstDrawKey", series.launch, &writer)
                    histogram("histogrammedExtendedLaunchKey", series.extended, &writer)
                }
            }
        }
        return String(decoding: writer.bytes, as: UTF8.self) + "\n"
    }

    private static func histogram(
        _ name: String, _ histogram: LaunchHistogram, _ writer: inout JSONWriter
    ) {
        guard histogram.count > 0 else { return }
        writer.key(name)
        writer.object { writer in
            let buckets = histogram.counts.indices.filter { histogram.counts[$0] > 0 }
            writer.field("histogramNumBuckets", buckets.count)
            writer.key("histogramValue")
            writer.object { writer in
                for (place, bucket) in buckets.enumerated() {
                    writer.key("\(place)")
                    writer.object { writer in
                        writer.field("bucketCount", histogram.counts[bucket])
                        writer.field("bucketStart", bound(bucket - 1))
                        writer.field("bucketEnd", bound(bucket))
                    }
                }
            }
            writer.field("sumNs", histogram.sum)
        }
    }

    /// "150 ms"; nil for the last bucket, which has no upper bound.
    private static func bound(_ index: Int) -> String? {
        if index < 0 { return "0 ms" }
        guard LaunchHistogram.bounds.indices.contains(index) else { return nil }
        let (whole, tenths) = (LaunchHistogram.bounds[index].nanoseconds / 100_000)
            .quotientAndRemainder(dividingBy: 10)
        return tenths == 0 ? "\(whole) ms" : "\(whole).\(tenths) ms"
    }
}
