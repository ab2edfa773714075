import Analysis
import Exports

/// The difference of two arms with its interval, compared with zero.
struct DifferencePlot {
    let comparison: Comparison
    let label: String

    func render() -> Markup {
        let axis = Axis(covering: [0, comparison.low, comparison.change, comparison.high])
        let zero = axis.fraction(0)
        let (low, high) = (axis.fraction(comparison.low), axis.fraction(comparison.high))
        let change = axis.fraction(comparison.change)
        let labels = axis.ticks.map(Numbers.change)
        let parts = [
            Drawing.line("none", x: zero...zero, y: 0...Self.height),
            Drawing.rect("interval first", from: low, to: high, y: 15, height: 4),
            Drawing.line("median first", x: change...change, y: 8...26),
        ]
        return Drawing.plot(
            height: Self.height + Drawing.tickHeight, label: label,
            Drawing.ticks(axis, labels, top: 0, foot: Self.height) + parts)
    }

    private static let height = 34.0
}
