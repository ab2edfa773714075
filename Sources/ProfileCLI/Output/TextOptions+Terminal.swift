import Report

extension TextOptions {
    /// For a report on a terminal, or in a file.
    init(for terminal: Terminal) {
        self.init()
        width = terminal.width
        usesColour = terminal.usesColour
    }
}
