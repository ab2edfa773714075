import Analysis
import Exports
import ProfileModel

/// Every launch in order: shows drift, outliers, and launches that do not count.
struct StripPlot {
    let model: PageModel
    private let axis: Axis
    private let groups: [Range<Int>]

    init(_ model: PageModel) {
        self.model = model
        let launches = model.measurement.launches
        axis = Axis(
            covering: model.arms.flatMap { arm in
                arm.counted.map { Double(launches[$0].wall.nanoseconds) }
            })
        // More marks would only cover each other.
        let size = max(1, (launches.count + Self.mostGroups - 1) / Self.mostGroups)
        groups = stride(from: 0, to: launches.count, by: size).map {
            $0..<min($0 + size, launches.count)
        }
    }

    func render() -> Markup {
        let label =
            "All \(Numbers.grouped(model.measurement.launches.count)) launches in their order: "
            + "how long each took"
        let parts = grid + model.arms.flatMap(typical) + groups.flatMap(marks)
        return Drawing.plot(height: Self.height + 4, label: label, parts)
    }

    /// True if several launches share a mark.
    var isGrouped: Bool { (groups.first?.count ?? 0) > 1 }

    // MARK: Parts

    private var grid: [Markup] {
        zip(axis.ticks, Quantity.time.labels(axis)).flatMap { value, label in
            let y = height(of: value)
            return [
                Drawing.line("grid", x: 0...1, y: y...y),
                Drawing.text(label, 0, y - 2, anchor: "start"),
            ]
        }
    }

    /// An arm's median and the interval around it, behind the marks.
    private func typical(_ arm: PageModel.Arm) -> [Markup] {
        guard let wall = arm.summary?.wall else { return [] }
        let middle = height(of: wall.median)
        let line = Drawing.line("median \(arm.style)", x: 0...1, y: middle...middle)
        guard let interval = wall.interval else { return [line] }
        let (top, foot) = (height(of: interval.high), height(of: interval.low))
        return [
            Drawing.rect("band \(arm.style)", from: 0, to: 1, y: top, height: foot - top), line,
        ]
    }

    /// The mark of one launch, or the summary of several successive ones.
    private func marks(_ group: Range<Int>) -> [Markup] {
        let launches = model.measurement.launches
        var result: [Markup] = []
        for arm in model.arms {
            let counted = group.filter {
                launches[$0].arm == arm.index && launches[$0].discarded == nil
            }
            if counted.count == 1 {
                result.append(mark(counted[0], of: arm))
            } else if counted.count > 1 {
                result += range(counted, of: arm)
            }
        }
        for index in group where launches[index].discarded != nil {
            result.append(discarded(index))
            // Further marks would cover this one.
            if group.count > 1 { break }
        }
        return result
    }

    private func mark(_ index: Int, of arm: PageModel.Arm) -> Markup {
        let wall = Double(model.measurement.launches[index].wall.nanoseconds)
        return Drawing.mark(
            place(of: index), height(of: wall), arm, launch: index,
            told: LaunchWords(model).lines(index))
    }

    private func range(_ group: [Int], of arm: PageModel.Arm) -> [Markup] {
        let walls = group.map { Double(model.measurement.launches[$0].wall.nanoseconds) }.sorted()
        let x = place(of: group[group.count / 2])
        let (low, high) = (walls[0], walls[walls.count - 1])
        let middle = Quartiles.value(at: 0.5, of: walls)
        let told = [
            "Launches \(model.number(group[0])) to \(model.number(group[group.count - 1]))"
                + " · \(arm.label)",
            "\(Numbers.launches(group.count)): \(Quantity.time.range(low, high))",
            "median \(Quantity.time.text(middle))",
        ]
        return [
            Drawing.line("spread \(arm.style)", x: x...x, y: height(of: high)...height(of: low)),
            Markup(
                "circle",
                [
                    "class": "datum dot \(arm.style)", "cx": Drawing.percent(x),
                    "cy": Drawing.pixels(height(of: middle)), "r": "2",
                ], [Drawing.title(told)]),
        ]
    }

    /// A cross; a triangle if it is outside the plot.
    private func discarded(_ index: Int) -> Markup {
        let wall = Double(model.measurement.launches[index].wall.nanoseconds)
        let sign = axis.contains(wall) ? "×" : wall > axis.high ? "▲" : "▼"
        // A letter's position is its base line.
        let y = min(max(12, height(of: wall) + 4), Self.height)
        return Markup(
            "text",
            [
                "class": "datum discarded", "x": Drawing.percent(place(of: index)),
                "y": Drawing.pixels(y), "text-anchor": "middle", "data-launch": "\(index + 1)",
            ], [Drawing.title(LaunchWords(model).lines(index)), Markup(sign)])
    }

    // MARK: Places

    /// To the right of the ticks' labels.
    private func place(of index: Int) -> Double {
        let count = Double(max(1, model.measurement.launches.count))
        return Self.left + (1 - Self.left) * (Double(index) + 0.5) / count
    }

    private func height(of value: Double) -> Double {
        2 + (1 - axis.fraction(value)) * (Self.height - 4)
    }

    private static let height = 150.0
    private static let left = 0.08
    private static let mostGroups = 1_000
}
