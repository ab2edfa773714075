import ProfileModel

/// Says of each launch that went wrong, once, what was wrong, and what the program printed.
final class LaunchTeller {
    private let words: MeasuringWords
    private let console: Console
    private var told: Set<Int> = []
    /// The same words hundreds of times help nobody.
    private var lastOutput = ""

    init(words: MeasuringWords, console: Console) {
        self.words = words
        self.console = console
    }

    /// - Parameter index: its place among all launches.
    func tell(_ launch: MeasuredLaunch, index: Int) {
        guard !told.contains(index), let complaint = words.complaint(launch, index: index) else {
            return
        }
        told.insert(index)
        console.complain(complaint)
        let output = MeasuringWords.quoted(launch.output)
        guard output != lastOutput else { return }
        lastOutput = output
        // Nobody may be listening any more.
        try? console.write(output, to: .error)
    }
}
