import Analysis
import Report

/// `firstlight report`.
enum ReportCommand {
    /// Prints the report, and returns the exit status.
    static func run(_ options: ReportOptions, _ console: Console) -> Int32 {
        Reading.print(to: console) { () throws(Reading.Failure) in
            let profile = try Reading.profile(of: options.file)
            guard options.format == .text else {
                return JSONReport.render(profile, minDuration: options.minDuration)
            }
            let text = try textOptions(options, profile, console.terminal(of: .output))
            return TextReport.render(profile, view: options.view, options: text)
        }
    }

    private static func textOptions(
        _ options: ReportOptions, _ profile: Profile, _ terminal: Terminal
    ) throws(Reading.Failure) -> TextOptions {
        var result = TextOptions()
        result.selection = try Reading.selection(
            of: profile, phase: options.phase, thread: options.thread,
            interval: options.interval)
        result.weight = options.weight
        result.minPercent = options.minPercent
        result.depth = options.depth
        result.minDuration = options.minDuration
        result.width = terminal.width
        result.usesColour = terminal.usesColour
        return result
    }
}
