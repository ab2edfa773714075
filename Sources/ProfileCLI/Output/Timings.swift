import Exports
import ProfileModel
import Report
import Sampler
import System

/// How long the steps of a command took, for `--timings`. Times are from `CLOCK_MONOTONIC`. If a
/// step runs on several cores, the CPU time of all its threads is shown, too.
struct Timings {
    private var lines: [(step: String, text: String)] = []

    mutating func add(_ step: String, _ wall: TimeSpan, cpu: TimeSpan? = nil, _ detail: String = "")
    {
        var parts = ["\(Numbers.preciseTime(wall)) wall"]
        if let cpu { parts.append("\(Numbers.preciseTime(cpu)) CPU of all threads") }
        if !detail.isEmpty { parts.append(detail) }
        lines.append((step, parts.joined(separator: ", ")))
    }

    /// Adds the wall time of `body`.
    mutating func measure<Result, Failure: Error>(
        _ step: String, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let start = MonotonicTime.now
        defer { add(step, .now - start) }
        return try body()
    }

    func print(to console: Console) {
        let width = lines.map(\.step.count).max() ?? 0
        for (step, text) in lines {
            let padding = String(repeating: " ", count: width - step.count)
            try? console.write("timing: \(step)\(padding)  \(text)\n", to: .error)
        }
    }
}
