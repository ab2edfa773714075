import Analysis
import Exports
import ProfileModel

/// Waits, initialisers, libraries and findings of a comparison.
extension ComparisonReport {
    static func wait(
        _ comparison: ProfileComparison, _ wait: ComparedWait, _ writer: inout JSONWriter
    ) {
        let identity = wait.identity
        writer.object { writer in
            writer.field("phase", identity.phase)
            writer.field("mainThread", identity.thread == nil)
            writer.field("thread", identity.thread)
            writer.field("reason", identity.reason.kind.rawValue)
            writer.field("detail", identity.reason.detail)
            let function = identity.function.map { comparison.functions[$0] }
            writer.field("function", function?.name)
            writer.field("module", function?.module)
            writer.key("count")
            writer.object { writer in
                writer.field("before", wait.counts.before)
                writer.field("after", wait.counts.after)
                writer.field("difference", wait.counts.difference)
            }
            writer.field("durationNs", wait.durations)
            interval(comparison, wait.walls, "durationIntervalNs", &writer)
        }
    }

    static func initializer(
        _ comparison: ProfileComparison, _ initializer: ComparedInitializer,
        _ writer: inout JSONWriter
    ) {
        writer.object { writer in
            names(comparison, initializer.function, &writer)
            writer.field("in", initializer.frames.map { $0 != nil })
            writer.field("wallNs", initializer.wall)
            interval(comparison, initializer.walls, "wallIntervalNs", &writer)
            writer.field("cpuNs", initializer.cpu)
        }
    }

    static func library(
        _ comparison: ProfileComparison, _ library: ComparedLibrary, _ writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.field("name", library.name)
            writer.field("in", library.loads.map { $0 > 0 })
            writer.field("wallNs", library.wall)
            interval(comparison, library.walls, "wallIntervalNs", &writer)
        }
    }

    static func process(
        _ comparison: ProfileComparison, _ process: ComparedProcess, _ writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.field("name", process.name)
            writer.key("count")
            writer.object { writer in
                writer.field("before", Int64(process.counts.before))
                writer.field("after", Int64(process.counts.after))
                writer.field("difference", Int64(process.counts.difference))
            }
            writer.field("wallNs", process.wall)
            interval(comparison, process.walls, "wallIntervalNs", &writer)
            writer.field("cpuNs", process.cpu)
        }
    }

    static func finding(
        _ comparison: ProfileComparison, _ finding: ComparedFinding, _ writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.field("status", finding.status.rawValue)
            writer.field("savingNs", finding.saving)
            for side in Side.allCases {
                writer.key(side.name)
                if let seen = finding.seen[side] {
                    JSONReport.finding(
                        comparison.launches[side][seen.launch], seen.finding, &writer)
                } else {
                    writer.value(String?.none)
                }
            }
        }
    }
}
