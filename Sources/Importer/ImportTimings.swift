package import ProfileModel
import System

/// The cost of an import, for `--timings`.
package struct ImportTimings: Hashable, Sendable {
    /// Wall time of reading and parsing the file.
    package var reading = TimeSpan.zero
    /// Wall time of unwinding, on all cores, and the CPU time that it took.
    package var unwinding = TimeSpan.zero
    package var unwindingCPU = TimeSpan.zero
    /// Wall time of interning stacks and writing the recording.
    package var writing = TimeSpan.zero
    package var stacks = 0
    package var frames = 0

    /// Adds the wall time of `body` to a figure.
    mutating func measure<Result, Failure: Error>(
        _ figure: WritableKeyPath<ImportTimings, TimeSpan>, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let start = MonotonicTime.now
        defer { self[keyPath: figure] = self[keyPath: figure] + (.now - start) }
        return try body()
    }
}
