import Analysis
import Exports
import ProfileModel

/// A heaviest stack, one line for each frame.
struct StackTableView {
    let stack: HeaviestStack
    let frames: FrameTable
    let caption: String
    let options: TextOptions

    /// The largest useful width: in a wider table, the eye loses the line.
    static let comfortable = 110

    func render() -> String {
        render(
            StackDigest(path: significantPath, weight: stack.weight, frames: frames).rows())
    }

    func render(_ rows: [StackDigest.Row]) -> String {
        let measures = stack.weight.measures
        var table = TextTable(
            columns: FrameCells.columns(options) + measures.map { .init(title: $0.title) })
        table.caption = caption
        table.fill = Self.comfortable
        for row in rows {
            switch row {
            case .frame(let entry):
                table.rows.append(
                    FrameCells.cells(entry.frame, of: frames, options)
                        + measures.map { .init(Numbers.cell($0.of(entry.total))) })
            case .elided(let count):
                table.rows.append([.init("  … \(Numbers.count(count, "frame"))", style: .dim)])
            }
        }
        return table.render(width: options.columns, colour: options.usesColour)
    }

    /// The heaviest path without its insignificant end: frames below 1 % of the whole (or the given
    /// percentage).
    private var significantPath: [HeaviestStack.Entry] {
        func weight(_ times: StateTimes) -> Double { Double(stack.weight.of(times).nanoseconds) }
        let least = weight(stack.total) * (options.minPercent ?? 1) / 100
        let kept = stack.entries.prefix { weight($0.total) >= least }
        // With a very even distribution, at least the root remains.
        return Array(stack.entries.prefix(min(max(1, kept.count), max(1, options.depth ?? .max))))
    }
}

extension Weight {
    /// A column of figures next to frames.
    struct Measure {
        var title: String
        var weight: Weight

        func of(_ times: StateTimes) -> TimeSpan { weight.of(times) }
    }

    /// The weight itself, and another one for comparison.
    var measures: [Measure] {
        let other = self == .wall ? Weight.cpu : .wall
        return [self, other].map { Measure(title: $0.rawValue.uppercased(), weight: $0) }
    }
}

/// The cells of a frame: function, module, place in the source. Narrow reports have one column for
/// the last two; it shows the more exact one.
enum FrameCells {
    /// True if there is room for a name, a module and a place side by side.
    private static func isWide(_ options: TextOptions) -> Bool { options.columns >= 100 }

    static func columns(title: String = "", _ options: TextOptions) -> [TextTable.Column] {
        let module = TextTable.Column(title: "", alignment: .left, minimum: 10, spareRank: 2)
        return [.init(title: title, alignment: .left, minimum: 24)]
            + (isWide(options) ? [module] : [])
            + [.init(title: "", alignment: .left, minimum: 12, spareRank: 1)]
    }

    static func cells(
        _ id: FrameID, of frames: FrameTable, _ options: TextOptions, prefix: String = ""
    ) -> [TextTable.Cell] {
        let frame = frames[id]
        return cells(
            frames[frame.function], place: frame.place, options, prefix: prefix,
            isInlined: frame.isInlined)
    }

    /// - Parameter place: like ``Frame/place``.
    static func cells(
        _ function: Function, place: String, _ options: TextOptions, prefix: String = "",
        isInlined: Bool = false
    ) -> [TextTable.Cell] {
        var name = function.cell(prefix: prefix)
        if isInlined { name.suffix = " (inlined)" }
        let place = TextTable.Cell(place, style: .dim)
        guard !isWide(options) else { return [name, function.moduleCell, place] }
        return [name, place.text.isEmpty ? function.moduleCell : place]
    }
}
