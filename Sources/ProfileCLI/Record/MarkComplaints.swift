import Agent
import Sampler
import Synchronization

/// Reports marks that are impossible: at once, so that the user learns it while the program runs. But
/// in a file that is watched for the program's own output, our line would count as the program's, so
/// there it waits.
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

    /// After the recording: what has waited, and then those of its end.
    func tellRest(_ problems: [MarkProblem]) {
        for problem in waiting.withLock({ $0 }) + problems { console.complain(problem.description) }
    }
}
