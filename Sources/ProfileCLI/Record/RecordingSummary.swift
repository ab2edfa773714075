import Analysis
import ProfileModel
import Report

/// The summary that is shown after a recording.
enum RecordingSummary {
    /// A write error is ignored: the reader may have closed the stream, and the recording is
    /// stored.
    ///
    /// - Parameter path: where the recording is, for the commands that are suggested.
    static func show(_ recording: Recording, of path: String, _ console: Console) {
        var options = TextOptions(for: console.terminal(of: .error))
        options.file = path == RecordOptions.defaultOutput ? nil : path
        let text = TextReport.render(Profile(recording), view: .summary, options: options)
        try? console.write(console.words(text), to: .error)
    }
}
