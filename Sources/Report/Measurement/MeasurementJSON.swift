import Analysis
import Exports
import ProfileModel

/// A measurement as JSON, complete. `docs/json.md` describes every field.
struct MeasurementJSON {
    let measurement: Measurement
    let summary: MeasurementSummary

    func render() -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("schema", JSONSchema.measure.version)
            writer.field("kind", "measurement")
            section("program", &writer) { Self.program(measurement.arms.first, &$0) }
            section("against", &writer) { Self.program(measurement.arms.dropFirst().first, &$0) }
            section("measurement", &writer) { header(&$0) }
            section("machine", &writer) { Self.machine(measurement.machine, &$0) }
            section("conditions", &writer) { Self.conditions(measurement.conditions, &$0) }
            section("launches", &writer) { launches(&$0) }
            section("summary", &writer) { Self.summary(summary.arms.first, &$0) }
            section("summaryAgainst", &writer) {
                Self.summary(summary.arms.dropFirst().first, &$0)
            }
            section("comparison", &writer) { comparison(&$0) }
            section("notes", &writer) { writer in
                writer.array(notes, inLines: true) { JSONReport.note($1, &$0) }
            }
            writer.endLine()
        }
        writer.endLine()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func section(
        _ name: String, _ writer: inout JSONWriter, _ body: (inout JSONWriter) -> Void
    ) {
        writer.breakLine()
        writer.key(name)
        body(&writer)
    }

    static func program(_ arm: MeasuredArm?, _ writer: inout JSONWriter) {
        guard let arm else { return writer.value(String?.none) }
        writer.object { writer in
            writer.field("name", String(arm.name))
            writer.field("path", arm.path)
            writer.key("arguments")
            writer.array(arm.command) { $0.value($1) }
        }
    }

    private func header(_ writer: inout JSONWriter) {
        let header = measurement.header
        writer.object { writer in
            writer.field("requested", header.requested)
            writer.field("ending", header.ending.rawValue)
            writer.field("version", header.versionName)
            writer.field(
                "date", CalendarDate(nanosecondsSince1970: header.date)?.internetText)
            writer.field("dateNs", header.date)
            writer.field("firstlight", header.recorderVersion)
        }
    }

    static func machine(_ machine: MeasuredMachine, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("host", machine.host)
            writer.field("kernel", machine.kernel)
            writer.field("architecture", machine.architecture)
            writer.field("processor", machine.processor)
            writer.field("cores", machine.cores)
            writer.field("memoryBytes", machine.memory)
            writer.field("governor", machine.governor)
            writer.field("boot", machine.boot)
        }
    }

    static func conditions(_ conditions: MeasuredConditions, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("cache", conditions.cache == .warm ? "warm" : "cold")
            writer.field("dropped", dropped(conditions.cache))
            writer.field("network", conditions.network)
            writer.field("disk", conditions.diskRate)
            writer.key("until")
            writer.array(conditions.until) { $0.value($1) }
        }
    }

    /// The files that are removed from the page cache before each launch.
    private static func dropped(_ cache: MeasuredConditions.Cache) -> String? {
        switch cache {
        case .warm: nil
        case .cold: "files"
        case .coldCopies: "copies"
        case .coldAll: "all"
        }
    }

    // MARK: Launches

    private func launches(_ writer: inout JSONWriter) {
        var counts = measurement.arms.map { _ in 0 }
        writer.array(measurement.launches.enumerated(), inLines: true) { writer, element in
            let launch = element.element
            guard counts.indices ~= launch.arm else { return }
            Self.launch(launch, index: counts[launch.arm], order: element.offset, &writer)
            counts[launch.arm] += 1
        }
    }

    private static func launch(
        _ launch: MeasuredLaunch, index: Int, order: Int, _ writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.field("index", index)
            writer.field("order", order)
            writer.field("arm", launch.arm)
            writer.field("discarded", launch.discarded?.rawValue)
            writer.field("startNs", launch.start)
            writer.field("wallNs", launch.wall)
            writer.field("heldNs", launch.held)
            writer.field("cpuNs", launch.cpu)
            writer.field("mainBlockedNs", launch.mainBlocked)
            writer.field("minorFaults", launch.minorFaults)
            writer.field("majorFaults", launch.majorFaults)
            writer.field("readBytes", launch.readBytes)
            writer.field("cachedBytes", launch.cachedBytes)
            writer.field("fileBytes", launch.fileBytes)
            writer.field("otherWorkNs", launch.otherWork)
            writer.field("stolenNs", launch.stolen)
            writer.field("frequencyKHz", launch.frequency)
            outcome(launch.outcome, &writer)
            writer.field("readyBy", launch.readyBy)
            writer.key("phases")
            writer.array(launch.phases) { writer, phase in
                writer.object {
                    $0.field("name", phase.name)
                    $0.field("wallNs", phase.wall)
                    $0.field("cpuNs", phase.cpu)
                }
            }
            writer.key("processes")
            processes(launch.processes, &writer)
            if !launch.output.isEmpty { writer.field("output", launch.output) }
        }
    }

    private static func processes(
        _ processes: [MeasuredProcesses]?, _ writer: inout JSONWriter
    ) {
        guard let processes else { return writer.value(String?.none) }
        writer.array(processes) { writer, process in
            writer.object {
                $0.field("name", process.name)
                $0.field("count", process.count)
                $0.field("running", process.running)
                $0.field("wallNs", process.wall)
                $0.field("cpuNs", process.cpu)
            }
        }
    }

    private static func outcome(_ outcome: Recording.Outcome, _ writer: inout JSONWriter) {
        switch outcome {
        case .exited(let status): writer.field("status", status)
        case .signalled(let signal):
            writer.field("status", Int32?.none)
            writer.field("signal", signal)
        case .running, .unknown: writer.field("status", Int32?.none)
        }
    }

    // MARK: Notes

    /// What a reader must know before trusting the figures.
    private var notes: [(kind: String, text: String)] {
        var notes: [(kind: String, text: String)] = []
        if let ending = MeasurementFacts.ending(measurement.header.ending) {
            notes.append((measurement.header.ending.rawValue, ending))
        }
        let names = ArmNames(measurement.arms)
        for (arm, figures) in summary.arms.enumerated() {
            let words = DisturbanceWords(measurement: measurement, arm: arm)
            let prefix = names.count > 1 ? "\(names[arm]): " : ""
            notes += figures.disturbances.map {
                (DisturbanceWords.kind($0), prefix + words.text($0))
            }
        }
        return notes
    }
}
