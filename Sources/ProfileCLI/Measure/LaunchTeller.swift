import ProfileModel

/// Reports each failed launch once: the problem, and the program's output.
final class LaunchTeller {
    private let words: MeasuringWords
    private let console: Console
    private var told: Set<Int> = []
    /// The same output is not repeated hundreds of times.
    private var lastOutput = ""
    /// How many launches failed in the same way.
    private var alike: [Way: Int] = [:]
    private static let mostAlike = 3

    private struct Way: Hashable {
        var arm: Int
        var reason: MeasuredLaunch.Discard?
    }

    init(words: MeasuringWords, console: Console) {
        self.words = words
        self.console = console
    }

    /// - Parameter index: the launch's index among all launches.
    func tell(_ launch: MeasuredLaunch, index: Int) {
        guard !told.contains(index), let complaint = words.complaint(launch, index: index) else {
            return
        }
        told.insert(index)
        let way = Way(arm: launch.arm, reason: launch.discarded)
        let count = (alike[way] ?? 0) + 1
        alike[way] = count
        guard count <= Self.mostAlike else { return }
        let isLast = count == Self.mostAlike
        console.complain(complaint + (isLast ? "; more of these are only counted" : ""))
        let output = MeasuringWords.quoted(launch.output)
        guard output != lastOutput else { return }
        lastOutput = output
        // The reader may have closed the stream.
        try? console.write(output, to: .error)
    }
}
