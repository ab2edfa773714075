import Analysis
import Exports
import ProfileModel

/// How the circumstances of two measurements differ, in words. Texts from the machine and the user
/// are escaped.
enum MismatchWords {
    /// The name in JSON.
    private static func kind(_ mismatch: MeasurementMismatch) -> String {
        switch mismatch {
        case .machine: "machine"
        case .processor: "processor"
        case .cores: "cores"
        case .kernel: "kernel"
        case .boot: "boot"
        case .unknownBoot: "unknown-boot"
        case .condition(let condition, _, _): condition.rawValue
        }
    }

    static func write(_ mismatch: MeasurementMismatch, _ writer: inout JSONWriter) {
        writer.object {
            $0.field("kind", kind(mismatch))
            $0.field("text", text(mismatch))
        }
    }

    static func text(_ mismatch: MeasurementMismatch) -> String {
        switch mismatch {
        case .machine(let before, let after): differ("machines", before, after)
        case .processor(let before, let after): differ("processors", before, after)
        case .cores(let before, let after):
            differ("numbers of cores", Numbers.grouped(before), Numbers.grouped(after))
        case .kernel(let before, let after): differ("kernels", before, after)
        case .boot:
            "the machine was restarted between the two"
        case .unknownBoot:
            "it is not known whether the machine was restarted between the two"
        case .condition(let condition, let before, let after):
            differ("conditions", name(condition, before), name(condition, after))
        }
    }

    private static func differ(_ what: String, _ before: String, _ after: String) -> String {
        "the \(what) differ: \(before.escapedForDisplay) before, \(after.escapedForDisplay) after"
    }

    private static func name(
        _ condition: MeasurementMismatch.Condition, _ value: String?
    ) -> String {
        switch condition {
        case .cache:
            MeasurementFacts.cache(value.flatMap(MeasuredConditions.Cache.init) ?? .warm)
        case .network: value.map { "network \($0)" } ?? "the machine's network"
        case .disk: value.map { "disk at most \($0) B/s" } ?? "the disk's own speed"
        case .until: "until " + (value ?? "the program's end")
        }
    }
}
