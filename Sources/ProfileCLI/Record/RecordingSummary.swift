import Analysis
import ProfileModel
import Report

/// What is shown of a recording once it was made.
enum RecordingSummary {
    /// Nobody may be reading any more; the recording is what matters.
    static func show(_ recording: Recording, _ console: Console) {
        let options = TextOptions(for: console.terminal(of: .error))
        let text = TextReport.render(Profile(recording), view: .summary, options: options)
        try? console.write(console.words(text), to: .error)
    }
}
