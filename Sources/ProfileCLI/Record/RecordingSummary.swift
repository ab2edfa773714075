import Analysis
import ProfileModel
import Report

/// What is shown of a recording once it was made.
enum RecordingSummary {
    /// Nobody may be reading any more; the recording is what matters.
    ///
    /// - Parameter path: where the recording is, for the commands that are suggested.
    static func show(_ recording: Recording, of path: String, _ console: Console) {
        var options = TextOptions(for: console.terminal(of: .error))
        options.file = path == RecordOptions.defaultOutput ? nil : path
        let text = TextReport.render(Profile(recording), view: .summary, options: options)
        try? console.write(console.words(text), to: .error)
    }
}
