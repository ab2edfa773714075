import Exports
import ProfileModel

/// The circumstances that a measurement's figures depend on, in words that all reports share. Texts
/// from the user and the machine are escaped.
enum MeasurementFacts {
    /// nil if the requested number of launches was made.
    static func ending(_ ending: Measurement.Ending) -> String? {
        switch ending {
        case .complete: nil
        case .interrupted: "interrupted: only what was measured until then is shown"
        case .gaveUp: "given up: fewer launches count than were asked for"
        case .unknown: "measuring was cut short: only what was measured until then is shown"
        }
    }

    static func cache(_ cache: MeasuredConditions.Cache) -> String {
        switch cache {
        case .warm: "warm"
        case .cold: "cold"
        case .coldCopies: "cold (private copies)"
        case .coldAll: "cold (all caches dropped)"
        }
    }

    static func until(_ conditions: MeasuredConditions) -> String {
        conditions.until.isEmpty
            ? "until the program's end"
            : "until " + conditions.until.map(\.escapedForDisplay).joined(separator: " or ")
    }

    /// The limits that the user set: "network 3G", "disk at most 1.0 MiB/s".
    static func limits(_ conditions: MeasuredConditions) -> [String] {
        [
            conditions.network.map(Self.network),
            conditions.diskRate.map { "disk at most \(Numbers.bytes($0))/s" },
        ].compactMap { $0 }
    }

    /// Also says what a missing network means: "network airplane: no route".
    private static func network(_ name: String) -> String {
        let isNone = ["airplane", "none"].contains(name)
        return "network \(name.escapedForDisplay)" + (isNone ? ": no route" : "")
    }

    static func machine(_ machine: MeasuredMachine) -> [String] {
        [
            machine.host, "Linux \(machine.kernel) \(machine.architecture)", machine.processor,
            Numbers.count(machine.cores, "core"), Numbers.bytes(machine.memory),
            machine.governor.map { "governor \($0)" } ?? "governor unknown",
        ].filter { !$0.isEmpty }.map(\.escapedForDisplay)
    }

    /// "2026-11-23 03:12:09 UTC"; nil: the file does not have it.
    static func date(_ header: Measurement.Header) -> String? {
        CalendarDate(nanosecondsSince1970: header.date)?.text
    }

    // MARK: Of several launches

    /// "took up to 80.00 µs of a launch, which is not counted"; nil: nothing.
    static func measuring(_ launches: [MeasuredLaunch]) -> String? {
        guard let most = launches.map(\.held).max(), most > .zero else { return nil }
        return "took up to \(Numbers.measured(most)) of a launch, which is not counted"
    }

    /// Possible disturbances that could not be checked; nil: all were checked.
    static func unknown(_ launches: [MeasuredLaunch]) -> String? {
        let counted = launches.filter { $0.discarded == nil }
        guard !counted.isEmpty else { return nil }
        let missing = [
            counted.allSatisfy { $0.otherWork == nil } ? "other work on the machine" : nil,
            counted.allSatisfy { $0.stolen == nil }
                ? "time that the hypervisor gave to others" : nil,
            counted.allSatisfy { $0.frequency == nil } ? "the cores' frequency" : nil,
        ].compactMap { $0 }
        return missing.isEmpty ? nil : "not known here: " + missing.joined(separator: ", ")
    }
}
