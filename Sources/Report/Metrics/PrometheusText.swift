import Analysis
import ProfileModel

/// Metrics in Prometheus's text format 0.0.4, for scraping and for node_exporter's textfile
/// collector. There are no timestamps, since the latter refuses them.
enum PrometheusText {
    static func render(_ metrics: LaunchMetrics) -> String {
        var text = ""
        for family in MetricFamily.all(of: metrics) {
            let name = family.name.prometheus
            text += "# HELP \(name) \(family.help)\n"
            switch family.points {
            case .histograms(let points):
                text += "# TYPE \(name) histogram\n"
                for point in points { write(point.histogram, name, point.labels, &text) }
            case .counters(let points):
                text += "# TYPE \(name) counter\n"
                for point in points { line(name, point.labels, "\(point.count)", &text) }
            }
        }
        return text
    }

    private static func write(
        _ histogram: LaunchHistogram, _ name: String, _ labels: [MetricFamily.Label],
        _ text: inout String
    ) {
        var total: Int64 = 0
        for (bound, count) in zip(LaunchHistogram.bounds, histogram.counts) {
            total += count
            line("\(name)_bucket", labels + [("le", seconds(bound))], "\(total)", &text)
        }
        line("\(name)_bucket", labels + [("le", "+Inf")], "\(histogram.count)", &text)
        line("\(name)_sum", labels, seconds(histogram.sum), &text)
        line("\(name)_count", labels, "\(histogram.count)", &text)
    }

    private static func line(
        _ name: String, _ labels: [MetricFamily.Label], _ value: String, _ text: inout String
    ) {
        let list = labels.map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",")
        text += "\(name){\(list)} \(value)\n"
    }

    /// Escapes a label's value: only backslash, quote and line feed.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Exact, without trailing zeros: 0.0015.
    private static func seconds(_ span: TimeSpan) -> String {
        let (whole, rest) = span.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        guard rest != 0 else { return "\(whole)" }
        var digits = String(rest.magnitude)
        digits = String(repeating: "0", count: 9 - digits.count) + digits
        while digits.last == "0" { digits.removeLast() }
        return "\(span.nanoseconds < 0 && whole == 0 ? "-" : "")\(whole).\(digits)"
    }
}
