import Analysis
import ProfileModel

/// Metrics in Prometheus's text format 0.0.4, for scraping and for node_exporter's textfile collector,
/// which refuses timestamps: there are none.
enum PrometheusText {
    static func render(_ metrics: LaunchMetrics) -> String {
        let series = metrics.series.sorted { $0.key < $1.key }
        var text = ""
        histogram(
            "firstlight_launch_seconds", "Launches, from exec to ready.", &text,
            series.map { ($0.pairs, $1.launch) })
        histogram(
            "firstlight_extended_launch_seconds",
            "Launches with what followed readiness, where it was followed on.", &text,
            series.map { ($0.pairs, $1.extended) })
        histogram(
            "firstlight_launch_phase_seconds", "Phases of launches.", &text,
            series.flatMap { labels, series in
                series.phases.sorted { $0.key < $1.key }.map { name, histogram in
                    (labels.pairs + [("phase", name)], histogram)
                }
            })
        counter(
            "firstlight_launches_failed_total",
            "Launches that failed, were not ready, or were struck by the watchdog.", &text,
            series.flatMap { labels, series in
                series.failures.sorted { $0.key.rawValue < $1.key.rawValue }
                    .map { (labels.pairs + [("reason", $0.rawValue)], $1) }
            })
        let merged = [("what", "launch", metrics.merged), ("what", "phase", metrics.mergedPhases)]
        counter(
            "firstlight_merged_total",
            "Counted as \(LaunchMetrics.other), for want of a series of their own.", &text,
            merged.filter { $0.2 > 0 }.map { ([($0.0, $0.1)], $0.2) })
        return text
    }

    private static func head(
        _ name: String, _ help: String, _ type: String, _ text: inout String
    ) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    private static func histogram(
        _ name: String, _ help: String, _ text: inout String,
        _ series: [([(String, String)], LaunchHistogram)]
    ) {
        let known = series.filter { $0.1.count > 0 }
        guard !known.isEmpty else { return }
        head(name, help, "histogram", &text)
        for (pairs, histogram) in known {
            var total: Int64 = 0
            for (bound, count) in zip(LaunchHistogram.bounds, histogram.counts) {
                total += count
                line("\(name)_bucket", pairs + [("le", seconds(bound))], "\(total)", &text)
            }
            line("\(name)_bucket", pairs + [("le", "+Inf")], "\(histogram.count)", &text)
            line("\(name)_sum", pairs, seconds(histogram.sum), &text)
            line("\(name)_count", pairs, "\(histogram.count)", &text)
        }
    }

    private static func counter(
        _ name: String, _ help: String, _ text: inout String,
        _ values: [([(String, String)], Int64)]
    ) {
        guard !values.isEmpty else { return }
        head(name, help, "counter", &text)
        for (pairs, value) in values { line(name, pairs, "\(value)", &text) }
    }

    private static func line(
        _ name: String, _ pairs: [(String, String)], _ value: String, _ text: inout String
    ) {
        let labels = pairs.map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",")
        text += "\(name){\(labels)} \(value)\n"
    }

    /// Of a label's value: backslash, quote and line feed, and nothing else.
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

    /// Exactly, without zeros at the end: 0.0015.
    private static func seconds(_ span: TimeSpan) -> String {
        let (whole, rest) = span.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        guard rest != 0 else { return "\(whole)" }
        var digits = String(rest.magnitude)
        digits = String(repeating: "0", count: 9 - digits.count) + digits
        while digits.last == "0" { digits.removeLast() }
        return "\(span.nanoseconds < 0 && whole == 0 ? "-" : "")\(whole).\(digits)"
    }
}

extension LaunchMetrics.Labels {
    /// Without those that say nothing.
    var pairs: [(String, String)] {
        [
            ("program", program), ("version", version), ("machine", machine),
            ("conditions", conditions),
        ].filter { !$0.1.isEmpty }
    }
}
