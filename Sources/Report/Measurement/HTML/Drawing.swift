import Exports

/// Pieces of SVG for all plots. Horizontal positions are shares of the width, so that letters and
/// dots keep their size however wide the page is. Vertical positions are pixels.
enum Drawing {
    /// - Parameter label: what the plot shows, for readers who cannot see it.
    static func plot(height: Double, label: String, _ parts: [Markup]) -> Markup {
        Markup(
            "svg",
            [
                "class": "plot", "width": "100%", "height": pixels(height), "role": "img",
                "aria-label": label,
            ], [.lines(parts)])
    }

    /// The text shown when pointing at the element.
    static func title(_ lines: [String]) -> Markup {
        Markup("title", [:], [Markup(lines: lines)])
    }

    static func dot(_ x: Double, _ y: Double, _ style: String, launch: Int, told: [String])
        -> Markup
    {
        Markup(
            "circle",
            [
                "class": "datum dot \(style)", "cx": percent(x), "cy": pixels(y), "r": "3.5",
                "data-launch": "\(launch + 1)",
            ], [title(told)])
    }

    static func square(
        _ x: Double, _ y: Double, _ style: String, launch: Int, told: [String]
    ) -> Markup {
        Markup(
            "rect",
            [
                "class": "datum dot \(style)", "x": percent(x), "y": pixels(y), "width": "6",
                "height": "6", "transform": "translate(-3 -3)", "data-launch": "\(launch + 1)",
            ], [title(told)])
    }

    /// The arms' marks also differ in shape: not every reader can distinguish the colours.
    static func mark(
        _ x: Double, _ y: Double, _ arm: PageModel.Arm, launch: Int, told: [String]
    ) -> Markup {
        arm.index == 0
            ? dot(x, y, arm.style, launch: launch, told: told)
            : square(x, y, arm.style, launch: launch, told: told)
    }

    static func rect(
        _ style: String, from low: Double, to high: Double, y: Double, height: Double
    ) -> Markup { rect(style, from: low, to: high, y: y, height: height, told: []) }

    static func rect(
        _ style: String, from low: Double, to high: Double, y: Double, height: Double,
        told: [String]
    ) -> Markup {
        Markup(
            "rect",
            [
                "class": style, "x": percent(low), "y": pixels(y),
                "width": percent(max(0, high - low)), "height": pixels(max(0, height)),
            ], told.isEmpty ? [] : [title(told)])
    }

    static func line(
        _ style: String, x: ClosedRange<Double>, y: ClosedRange<Double>
    ) -> Markup {
        Markup(
            "line",
            [
                "class": style, "x1": percent(x.lowerBound), "x2": percent(x.upperBound),
                "y1": pixels(y.lowerBound), "y2": pixels(y.upperBound),
            ])
    }

    static func text(
        _ text: String, _ x: Double, _ y: Double, anchor: String, style: String = "tick"
    ) -> Markup {
        Markup(
            "text",
            ["class": style, "x": percent(x), "y": pixels(y), "text-anchor": anchor], text: text)
    }

    /// Ticks below a plot: lines through it, and labels at its foot.
    static func ticks(_ axis: Axis, _ labels: [String], top: Double, foot: Double) -> [Markup] {
        zip(axis.ticks, labels).flatMap { value, label in
            let x = axis.fraction(value)
            // A centred label at the border would be cut off.
            let anchor = x < 0.05 ? "start" : x > 0.95 ? "end" : "middle"
            return [
                line("grid", x: x...x, y: top...foot),
                text(label, x, foot + 12, anchor: anchor),
            ]
        }
    }

    /// The height for the ticks' labels at the foot of a plot.
    static let tickHeight = 18.0

    static func percent(_ share: Double) -> String { XML.number(bounded(share) * 100) + "%" }

    static func pixels(_ value: Double) -> String { XML.number(bounded(value)) }

    /// Guarantees that a drawing contains only valid numbers.
    private static func bounded(_ value: Double) -> Double {
        value > 0 ? min(value, 100_000) : 0
    }
}
