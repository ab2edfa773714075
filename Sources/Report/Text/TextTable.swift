import Exports

/// A table that fits itself into a width: first flexible columns are shortened, then dispensable
/// ones are left out.
struct TextTable {
    enum Alignment {
        case left
        case right
    }

    struct Column {
        var title: String
        var alignment = Alignment.right
        var style = Style.heading
        /// The smallest width of the column; nil if its content is never cut.
        var minimum: Int?
        /// Columns with a rank are left out if there is no room, the highest rank first.
        var spareRank: Int?
    }

    struct Cell {
        /// Before and after the text; never shortened.
        var prefix = ""
        var text: String
        var suffix = ""
        var style = Style.plain
        /// If it must be shortened, its arguments are removed first.
        var isFunction = false

        init(_ text: String, style: Style = .plain) {
            self.text = text
            self.style = style
        }

        var width: Int { prefix.displayWidth + text.displayWidth + suffix.displayWidth }
    }

    var columns: [Column]
    var rows: [[Cell]] = []
    /// Replaces the titles of the leading left-aligned columns.
    var caption: String?
    /// Widens the first flexible column so that the table takes this many columns.
    var fill = 0

    private static let indent = "  "
    private static let gap = 2

    /// The width of the table if nothing is cut.
    var naturalWidth: Int { Self.total(naturalWidths) }

    /// The lines of the table, each ended by a line break.
    func render(width: Int, colour: Bool) -> String {
        let widths = fittingWidths(width)
        var result = titleLine(widths, colour)
        for row in rows { result += line(row, from: 0, widths, colour) }
        return result
    }

    // MARK: Widths

    private var naturalWidths: [Int] {
        columns.indices.map { column in
            let title = isCaptioned(column) ? 0 : columns[column].title.displayWidth
            return rows.reduce(title) { widest, row in
                column < row.count ? max(widest, row[column].width) : widest
            }
        }
    }

    private static func total(_ widths: [Int]) -> Int {
        let shown = widths.filter { $0 > 0 }
        return indent.utf8.count + shown.reduce(0, +) + gap * max(0, shown.count - 1)
    }

    /// 0 for a column that is left out.
    private func fittingWidths(_ available: Int) -> [Int] {
        let natural = naturalWidths
        var spared: Set<Int> = []
        while true {
            var widths = natural.indices.map { spared.contains($0) ? 0 : natural[$0] }
            shrink(&widths, by: Self.total(widths) - available)
            let next = columns.indices.filter { columns[$0].spareRank != nil && widths[$0] > 0 }
                .max { (columns[$0].spareRank ?? 0) < (columns[$1].spareRank ?? 0) }
            guard Self.total(widths) > available, let next else {
                stretch(&widths, to: min(available, fill))
                return widths
            }
            spared.insert(next)
        }
    }

    /// Takes characters from whichever flexible column is widest.
    private func shrink(_ widths: inout [Int], by excess: Int) {
        for _ in 0..<max(0, excess) {
            let flexible = columns.indices.filter { widths[$0] > columns[$0].minimum ?? .max }
            guard let widest = flexible.max(by: { widths[$0] < widths[$1] }) else { return }
            widths[widest] -= 1
        }
    }

    private func stretch(_ widths: inout [Int], to wanted: Int) {
        guard let first = columns.firstIndex(where: { $0.minimum != nil }) else { return }
        widths[first] += max(0, wanted - Self.total(widths))
    }

    // MARK: Lines

    private func isCaptioned(_ column: Int) -> Bool {
        caption != nil && columns[...column].allSatisfy { $0.alignment == .left }
    }

    private var titles: [Cell] {
        columns.map { Cell($0.title, style: $0.style) }
    }

    private func titleLine(_ widths: [Int], _ colour: Bool) -> String {
        guard let caption else { return line(titles, from: 0, widths, colour) }
        let spanned = widths.indices.filter(isCaptioned)
        let room = Self.total(Array(widths[..<spanned.count])) - Self.indent.utf8.count
        let text = caption.shortened(to: max(room, 1))
        let start = Self.indent + (colour ? Style.heading.applied(to: text) : text)
        let pending = max(0, room - text.displayWidth) + Self.gap
        return line(titles, from: spanned.count, widths, colour, after: start, pending: pending)
    }

    /// - Parameters:
    ///   - start: the beginning of the line.
    ///   - pending: the number of spaces between it and the next text.
    private func line(
        _ row: [Cell], from first: Int, _ widths: [Int], _ colour: Bool,
        after start: String = indent, pending: Int = 0
    ) -> String {
        var result = start
        var pending = pending
        for column in first..<max(first, min(row.count, widths.count)) where widths[column] > 0 {
            let cell = fitted(row[column], widths[column])
            let space = widths[column] - cell.width
            let text = cell.prefix + cell.text + cell.suffix
            guard !text.isEmpty else {
                pending += widths[column] + Self.gap
                continue
            }
            let before = columns[column].alignment == .right ? space : 0
            result += String(repeating: " ", count: pending + before)
            result += colour ? cell.style.applied(to: text) : text
            pending = space - before + Self.gap
        }
        return result + "\n"
    }

    private func fitted(_ cell: Cell, _ width: Int) -> Cell {
        guard cell.width > width else { return cell }
        var result = cell
        let room = max(0, width - cell.prefix.displayWidth - cell.suffix.displayWidth)
        result.text =
            cell.isFunction ? cell.text.shortenedFunction(to: room) : cell.text.shortened(to: room)
        if result.width > width {
            // There is not even room for prefix and suffix.
            result.prefix = result.prefix.shortened(to: width)
            result.text = ""
            result.suffix = ""
        }
        return result
    }
}
