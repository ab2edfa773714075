import Glibc
import Synchronization

/// A sleep(1) that is longer than any test. No other one is as long, in whichever test and run of the
/// tests, so that it can be found among all processes of the machine.
package struct Nap {
    private static let made = Atomic(1000)
    private let seconds: String

    package init() {
        let number = Self.made.add(1, ordering: .relaxed).newValue
        seconds = "\(getpid())\(number).25"
    }

    package var words: [String] { ["sleep", seconds] }

    /// For a shell.
    package var command: String { words.joined(separator: " ") }

    /// The beginning of its command line, for pgrep(1).
    private var pattern: String { "^sleep " + seconds.replacing(".", with: "\\.") }

    package var isRunning: Bool {
        get throws { try Command(["pgrep", "-f", pattern]).run().status == 0 }
    }

    package func end() throws { _ = try Command(["pkill", "-f", pattern]).run() }
}
