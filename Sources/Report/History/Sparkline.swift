import Analysis

/// One character for each point of a series, in order, for the usual duration of its launch. A line
/// marks each change.
struct Sparkline {
    let series: HistorySeries
    let options: TextOptions

    private static let bars: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    static let change: Character = "│"

    func render() -> String {
        let perLine = max(10, options.columns - 4)
        return stride(from: 0, to: marks.count, by: perLine).map { start in
            "  " + String(marks[start..<min(start + perLine, marks.count)]) + "\n"
        }.joined()
    }

    /// "▁ 370.1 ms to █ 415.6 ms"; if there is one point, or all are equal, their value.
    var scale: String {
        guard high > low else { return "all \(Quantity.time.text(low))" }
        return "\(Self.bars[0]) \(Quantity.time.text(low)) to \(Self.bars[7]) "
            + Quantity.time.text(high)
    }

    private var medians: [Double] { series.points.map(\.median.value) }
    private var low: Double { medians.min() ?? 0 }
    private var high: Double { medians.max() ?? 0 }

    private var marks: [Character] {
        let (low, high) = (low, high)
        let changes = Set(series.changes.map(\.point))
        return medians.enumerated().flatMap { index, median -> [Character] in
            let share = high > low ? (median - low) / (high - low) : 0
            let bar = Self.bars[min(max(Int(share * 8), 0), 7)]
            return changes.contains(index) ? [Self.change, bar] : [bar]
        }
    }
}
