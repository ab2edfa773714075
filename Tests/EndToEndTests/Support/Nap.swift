import Glibc

/// A sleep(1) that is longer than any test, and that only one test of one run of the tests has: it
/// is sought among all of the machine's processes.
struct Nap {
    private let seconds: String

    /// - Parameter number: of the test's own.
    init(_ number: Int) { seconds = "\(number)\(getpid()).25" }

    var words: [String] { ["sleep", seconds] }

    /// For a shell.
    var command: String { words.joined(separator: " ") }

    /// What its command line begins with, for pgrep(1).
    private var pattern: String { "^sleep " + seconds.replacing(".", with: "\\.") }

    var isRunning: Bool {
        get throws { try Command(["pgrep", "-f", pattern]).run().status == 0 }
    }

    func end() throws { _ = try Command(["pkill", "-f", pattern]).run() }
}
