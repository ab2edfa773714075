import Agent
import Sampler
import Synchronization

/// Reports marks that are impossible. It does so at once, so that the user sees it while the
/// program runs. There is one exception: if our own output goes to a file that is watched for the
/// program's output, our line would count as the program's. Then reports wait until the recording
/// is over.
final class MarkComplaints: Sendable {
    private let console: Console
    private let waits: Bool
    private let waiting = Mutex<[MarkProblem]>([])

    init(_ console: Console, waiting waits: Bool) {
        self.console = console
        self.waits = waits
    }

    func tell(_ problem: MarkProblem) {
        if waits {
            waiting.withLock { $0.append(problem) }
        } else {
            console.complain(problem.description)
        }
    }

    /// After the recording: reports the waiting problems, and then those found at its end.
    func tellRest(_ problems: [MarkProblem]) {
        for problem in waiting.withLock({ $0 }) + problems { console.complain(problem.description) }
    }
}
