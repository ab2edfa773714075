import Exports
import ProfileModel

/// One character for each launch, in order: how long it took, or why it does not count. It makes
/// drift, two kinds of launches, and outliers visible.
struct LaunchStrip {
    /// One arm's launches, in the order of the measurement.
    let launches: [MeasuredLaunch]
    let scale: Scale
    let options: TextOptions

    /// The shortest and the longest of all arms, so that their strips can be compared.
    struct Scale {
        var low: TimeSpan
        var high: TimeSpan

        /// Both are 0 if no launch counts.
        init(_ launches: [MeasuredLaunch]) {
            let walls = launches.filter { $0.discarded == nil }.map(\.wall)
            low = walls.min() ?? .zero
            high = walls.max() ?? .zero
        }

        private static let bars: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

        func bar(_ wall: TimeSpan) -> Character {
            guard high > low else { return Self.bars[0] }
            let share = Double((wall - low).nanoseconds) / Double((high - low).nanoseconds)
            return Self.bars[min(max(Int(share * 8), 0), 7)]
        }

        var words: String {
            guard high > low else { return "all took \(Numbers.measured(low))" }
            return "▁ \(Numbers.measured(low)) to █ \(Numbers.measured(high))"
        }
    }

    /// If there would be more lines, each character stands for several launches.
    private static let mostLines = 8

    func render() -> String {
        guard !launches.isEmpty else { return "" }
        let digits = Numbers.grouped(launches.count).utf8.count
        // A round number, so that a reader can count positions.
        let perLine = min(max((options.columns - digits - 4) / 10 * 10, 10), 100)
        let each = (launches.count + perLine * Self.mostLines - 1) / (perLine * Self.mostLines)
        let marks = stride(from: 0, to: launches.count, by: each).map {
            mark(launches[$0..<min($0 + each, launches.count)])
        }
        let lines = stride(from: 0, to: marks.count, by: perLine).map { start in
            let number = Numbers.grouped(start * each + 1)
            let margin = String(repeating: " ", count: 2 + digits - number.utf8.count)
            return margin + dim(number) + "  "
                + String(marks[start..<min(start + perLine, marks.count)]) + "\n"
        }
        return caption(each) + lines.joined() + legend
    }

    private func caption(_ each: Int) -> String {
        let hasCounted = launches.contains { $0.discarded == nil }
        let parts = [
            "every launch, in order", hasCounted ? scale.words : nil,
            each > 1
                ? "each character stands for \(each), and shows the longest that counts" : nil,
        ]
        return parts.compactMap { $0 }.joined(separator: "; ").wrapped(to: options.columns)
    }

    private func mark(_ group: ArraySlice<MeasuredLaunch>) -> Character {
        let longest = group.filter { $0.discarded == nil }.map(\.wall).max()
        if let longest { return scale.bar(longest) }
        return group.first?.discarded.map(DiscardWords.mark) ?? " "
    }

    /// "not counted: f 1 the first, w 3 not cold"
    private var legend: String {
        let reasons = MeasuredLaunch.Discard.allCases.compactMap { reason -> String? in
            let count = launches.count { $0.discarded == reason }
            guard count > 0 else { return nil }
            return "\(DiscardWords.mark(reason)) = \(DiscardWords.text(reason))"
                + (count > 1 ? " (\(Numbers.grouped(count)))" : "")
        }
        guard !reasons.isEmpty else { return "" }
        return ("not counted: " + reasons.joined(separator: ", ")).wrapped(to: options.columns)
    }

    private func dim(_ text: String) -> String {
        options.usesColour ? Style.dim.applied(to: text) : text
    }
}
