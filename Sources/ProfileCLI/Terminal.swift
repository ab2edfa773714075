import CSystem

/// How wide a report may be, and whether it may use colours.
package struct Terminal: Hashable, Sendable {
    package var width: Int
    package var usesColour: Bool

    /// For files and pipes.
    package static let defaultWidth = 100

    /// `columns` are the terminal's own (nil: unknown). The environment may say otherwise:
    /// `COLUMNS` overrules the width, also where there is no terminal; a `NO_COLOR` that is not
    /// empty (no-color.org) and `TERM=dumb` forbid colours, which only terminals get.
    package init(isTerminal: Bool, columns: Int?, environment: (String) -> String?) {
        let wanted = environment("COLUMNS").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        width = min(wanted ?? columns ?? Self.defaultWidth, 1_000)
        let isForbidden = !(environment("NO_COLOR") ?? "").isEmpty || environment("TERM") == "dumb"
        usesColour = isTerminal && !isForbidden
    }

    /// nil when `descriptor` is no terminal, or one that does not say.
    package static func columns(of descriptor: Int32) -> Int? {
        let columns = Int(cs_terminal_width(descriptor))
        return columns > 0 ? columns : nil
    }
}
