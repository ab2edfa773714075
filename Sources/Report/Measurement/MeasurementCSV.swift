import Exports
import ProfileModel

/// A measurement as comma-separated values (RFC 4180), for spreadsheets and scripts: one row for
/// each launch, in order. Unknown values are empty.
struct MeasurementCSV {
    private let measurement: Measurement
    /// The phases with columns, in the order of their first occurrence.
    private let phases: [String]
    private let columns: [String: Int]
    /// True if there are more phases.
    private let hasMore: Bool

    /// A small file could name very many phases, and each would be a column for every launch.
    private static let mostPhases = 200

    init(_ measurement: Measurement) {
        self.measurement = measurement
        var phases: [String] = []
        var columns: [String: Int] = [:]
        var hasMore = false
        for phase in measurement.launches.lazy.flatMap(\.phases) where columns[phase.name] == nil {
            guard phases.count < Self.mostPhases else {
                hasMore = true
                continue
            }
            columns[phase.name] = phases.count
            phases.append(phase.name)
        }
        self.phases = phases
        self.columns = columns
        self.hasMore = hasMore
    }

    func render() -> String {
        var text = Self.line(titles)
        for (order, launch) in measurement.launches.enumerated() {
            text += Self.line(cells(launch, order: order))
        }
        return text
    }

    private static let fixed = [
        "order", "arm", "program", "discarded", "start_ns", "wall_ns", "held_ns", "cpu_ns",
        "main_blocked_ns", "minor_faults", "major_faults", "read_bytes", "cached_bytes",
        "file_bytes", "other_work_ns", "stolen_ns", "frequency_khz", "outcome", "outcome_value",
        "ready_by",
    ]

    private var titles: [String] {
        let names = phases + (hasMore ? ["(other phases)"] : [])
        return Self.fixed
            + names.flatMap { [Self.text($0 + " wall_ns"), Self.text($0 + " cpu_ns")] }
    }

    private func cells(_ launch: MeasuredLaunch, order: Int) -> [String] {
        let arms = measurement.arms
        let (outcome, value) = Self.outcome(launch.outcome)
        let numbers: [Int64?] = [
            launch.start.nanoseconds, launch.wall.nanoseconds, launch.held.nanoseconds,
            launch.cpu?.nanoseconds, launch.mainBlocked?.nanoseconds, launch.minorFaults,
            launch.majorFaults, launch.readBytes, launch.cachedBytes, launch.fileBytes,
            launch.otherWork?.nanoseconds, launch.stolen?.nanoseconds, launch.frequency,
        ]
        return [
            "\(order)", "\(launch.arm)",
            Self.text(arms.indices ~= launch.arm ? String(arms[launch.arm].name) : ""),
            launch.discarded?.rawValue ?? "",
        ] + numbers.map(Self.number)
            + [outcome, Self.number(value), Self.text(launch.readyBy ?? "")]
            + phaseCells(launch)
    }

    private static func number(_ value: Int64?) -> String { value.map { "\($0)" } ?? "" }

    private static func outcome(_ outcome: Recording.Outcome) -> (String, Int64?) {
        switch outcome {
        case .exited(let status): ("exited", Int64(status))
        case .signalled(let signal): ("signalled", Int64(signal))
        case .running: ("running", nil)
        case .unknown: ("", nil)
        }
    }

    /// Phases with the same name in one launch are added up.
    private func phaseCells(_ launch: MeasuredLaunch) -> [String] {
        var sums = [MeasuredPhase?](repeating: nil, count: phases.count + (hasMore ? 1 : 0))
        for phase in launch.phases {
            let column = columns[phase.name] ?? phases.count
            guard let sum = sums[column] else {
                sums[column] = phase
                continue
            }
            let cpu = sum.cpu.flatMap { known in phase.cpu.map { known + $0 } }
            sums[column] = MeasuredPhase(name: sum.name, wall: sum.wall + phase.wall, cpu: cpu)
        }
        return sums.flatMap {
            [Self.number($0?.wall.nanoseconds), Self.number($0?.cpu?.nanoseconds)]
        }
    }

    private static func line(_ cells: [String]) -> String {
        cells.joined(separator: ",") + "\r\n"
    }

    /// A text as a cell. Control characters are escaped, as in all output that may reach a
    /// terminal. If a spreadsheet would take it for a formula, it gets an apostrophe in front.
    private static func text(_ text: String) -> String {
        var shown = text.escapedForDisplay
        // Spreadsheets skip leading spaces.
        let first = shown.first { $0 != " " }
        if let first, formulaStarts.contains(first) { shown = "'" + shown }
        guard shown.contains(where: { $0 == "," || $0 == "\"" || $0 == " " }) else { return shown }
        return "\""
            + shown.split(separator: "\"", omittingEmptySubsequences: false)
            .joined(separator: "\"\"") + "\""
    }

    /// The wide forms count as well.
    private static let formulaStarts: Set<Character> = [
        "=", "+", "-", "@", "＝", "＋", "－", "＠",
    ]
}
