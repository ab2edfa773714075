import Analysis
import Exports
import ProfileModel

/// Processes in the JSON report.
extension JSONReport {
    static func process(_ profile: Profile, _ index: Int, _ writer: inout JSONWriter) {
        let process = profile.processes[index]
        writer.object { writer in
            writer.field("pid", process.pid)
            writer.field("parentPid", process.parentPid)
            writer.field("parent", process.parent)
            writer.field("name", process.name)
            writer.key("arguments")
            writer.array(process.arguments) { $0.value($1) }
            writer.field("startNs", process.start)
            writer.field("endNs", process.end)
            ending(process.outcome, &writer)
            writer.field("cpuNs", process.cpu)
            writer.key("phases")
            writer.array(process.phases) { writer, phase in
                writer.object {
                    $0.field("name", phase.name)
                    $0.field("startNs", phase.start)
                    $0.field("wallNs", phase.wall)
                    $0.field("cpuNs", phase.cpu)
                }
            }
        }
    }

    static func child(_ process: ProcessFigures, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("pid", process.pid)
            writer.field("parent", process.parentPid)
            writer.field("name", process.name)
            writer.field("startNs", process.start)
            writer.field("wallNs", process.wall)
            writer.field("cpuNs", process.cpu)
            ending(process.outcome, &writer)
        }
    }

    static func ending(_ outcome: Recording.Outcome, _ writer: inout JSONWriter) {
        switch outcome {
        case .exited(let status): writer.field("exitStatus", status)
        case .signalled(let signal): writer.field("signal", signal)
        case .running, .unknown: writer.field("exitStatus", Int32?.none)
        }
    }
}
