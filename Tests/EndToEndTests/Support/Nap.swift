import Glibc

/// A sleep(1) that is longer than any test, and unique to one test in one run of the tests, so that
/// it can be found among all processes of the machine.
struct Nap {
    private let seconds: String

    /// - Parameter number: the test's own number.
    init(_ number: Int) { seconds = "\(number)\(getpid()).25" }

    var words: [String] { ["sleep", seconds] }

    /// For a shell.
    var command: String { words.joined(separator: " ") }

    /// The beginning of its command line, for pgrep(1).
    private var pattern: String { "^sleep " + seconds.replacing(".", with: "\\.") }

    var isRunning: Bool {
        get throws { try Command(["pgrep", "-f", pattern]).run().status == 0 }
    }

    func end() throws { _ = try Command(["pkill", "-f", pattern]).run() }
}
