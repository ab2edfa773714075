import Analysis
import Exports
import ProfileModel

/// Every launch in figures, in order.
struct LaunchTable {
    private let model: PageModel
    private let launches: [MeasuredLaunch]
    private let columns: [Column]

    private struct Column {
        var title: String
        var text: (MeasuredLaunch) -> String?
    }

    init(_ model: PageModel) {
        self.model = model
        let launches = Array(model.measurement.launches.prefix(Self.mostRows))
        self.launches = launches
        // A figure that is unknown for all launches has no column.
        columns = Self.allColumns.filter { column in
            launches.contains { column.text($0) != nil }
        }
    }

    func render() -> Markup {
        let all = model.measurement.launches.count
        let title =
            all > launches.count
            ? "The first \(Numbers.grouped(launches.count)) of \(Numbers.grouped(all)) launches"
            : "All \(Numbers.grouped(all)) launches"
        let table = Markup(
            "table", ["class": "launches"],
            [
                .lines([
                    Markup("thead", [:], [head]),
                    Markup("tbody", [:], [.lines(launches.indices.map(row))]),
                ])
            ])
        var parts = [
            Markup("summary", [:], text: title), Markup("div", ["class": "scroll"], [table]),
        ]
        if all > launches.count {
            parts.append(
                Markup("p", ["class": "caption"], text: "report --format csv has all of them."))
        }
        return Markup("details", ["id": "launches"], parts)
    }

    private var head: Markup {
        var cells = [Markup("th", ["class": "number", "scope": "col"], text: "Launch")]
        if model.arms.count > 1 { cells.append(Markup("th", ["scope": "col"], text: "Program")) }
        cells += columns.map {
            Markup("th", ["class": "number", "scope": "col"], text: $0.title)
        }
        return Markup("tr", [:], cells + [Markup("th", ["scope": "col"], text: "Ended")])
    }

    private func row(_ index: Int) -> Markup {
        let launch = launches[index]
        let number = model.number(index)
        var cells = [Markup("th", ["class": "number", "scope": "row"], text: number)]
        if model.arms.count > 1 {
            let arm = model.arms.indices.contains(launch.arm) ? model.arms[launch.arm] : nil
            cells.append(Markup("td", [:], arm.map { [PageParts.label($0)] } ?? []))
        }
        cells += columns.map { column in
            Markup("td", ["class": "number"], text: column.text(launch) ?? "–")
        }
        cells.append(Markup("td", [:], text: Self.ended(launch)))
        let style = launch.discarded == nil ? "action" : "action discarded"
        return Markup(
            "tr",
            ["id": "launch-\(index + 1)", "data-launch": "\(index + 1)", "class": style], cells)
    }

    /// How the launch ended, and why it does not count.
    private static func ended(_ launch: MeasuredLaunch) -> String {
        let how =
            launch.readyBy.map { "ready (\($0.escapedForDisplay.shortened(to: 80)))" }
            ?? OutcomeWords.text(launch.outcome)
        return how + (launch.discarded.map { "; does not count: \(DiscardWords.text($0))" } ?? "")
    }

    private static var allColumns: [Column] {
        [
            Column(title: "Began") { "+" + Numbers.measured($0.start) },
            Column(title: "Wall") { Numbers.measured($0.wall) },
            Column(title: "Measuring took") { Numbers.measured($0.held) },
            Column(title: "CPU") { $0.cpu.map(Numbers.measured) },
            Column(title: "Main blocked") { $0.mainBlocked.map(Numbers.measured) },
            Column(title: "Minor faults") { $0.minorFaults.map { Numbers.grouped($0) } },
            Column(title: "Major faults") { $0.majorFaults.map { Numbers.grouped($0) } },
            Column(title: "Read") { $0.readBytes.map(bytes) },
            Column(title: "Cached at begin") { launch in
                guard let cached = launch.cachedBytes else { return nil }
                return bytes(cached) + (launch.fileBytes.map { " of \(bytes($0))" } ?? "")
            },
            Column(title: "Other work") { $0.otherWork.map(Numbers.measured) },
            Column(title: "Stolen") { $0.stolen.map(Numbers.measured) },
            Column(title: "Frequency") {
                $0.frequency.map { Numbers.clock(kilohertz: $0) }
            },
        ]
    }

    private static func bytes(_ count: Int64) -> String { Quantity.bytes.text(Double(count)) }

    static let mostRows = 2_000
}
