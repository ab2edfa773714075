import CSystem
import Report

/// The width of a report, and whether it may use colours.
package struct Terminal: Hashable, Sendable {
    package var width: Int
    package var usesColour: Bool

    /// For files and pipes.
    package static let defaultWidth = 100

    /// `columns` is the terminal's own width (nil: unknown). The environment may override it:
    /// `COLUMNS` sets the width, even without a terminal. A `NO_COLOR` that is not empty
    /// (no-color.org) and `TERM=dumb` forbid colours, which only terminals get.
    package init(isTerminal: Bool, columns: Int?, environment: (String) -> String?) {
        let wanted = environment("COLUMNS").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        width = min(wanted ?? columns ?? Self.defaultWidth, 1_000)
        let isForbidden = !(environment("NO_COLOR") ?? "").isEmpty || environment("TERM") == "dumb"
        usesColour = isTerminal && !isForbidden
    }

    /// nil if `descriptor` is not a terminal, or the terminal does not know.
    package static func columns(of descriptor: Int32) -> Int? {
        let columns = Int(cs_terminal_width(descriptor))
        return columns > 0 ? columns : nil
    }
}

extension TextOptions {
    /// For a report on a terminal, or in a file.
    init(for terminal: Terminal) {
        self.init()
        width = terminal.width
        usesColour = terminal.usesColour
    }
}
