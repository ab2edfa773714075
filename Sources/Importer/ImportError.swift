package import PerfData
package import Recording

/// Why nothing could be imported.
package enum ImportError: Error, CustomStringConvertible {
    case input(PerfDataError)
    case recording(RecordingError)
    /// The process has no usable samples; nil: no process has any. `busiest` has the most.
    case noSamples(path: String, pid: Int32?, busiest: Int32?)
    /// Recorded without times: we cannot know when the samples were taken.
    case noTimes(path: String)

    /// None of its events measures time.
    case noClock(path: String)

    package var description: String {
        switch self {
        case .input(let error): error.description
        case .recording(let error): error.description
        case .noSamples(let path, let pid?, let busiest):
            "'\(path)' has no samples of process \(pid)"
                + (busiest.map { "; \($0) has the most (import --pid \($0))" } ?? "")
        case .noSamples(let path, nil, _): "'\(path)' has no samples of a program"
        case .noTimes(let path):
            "the samples in '\(path)' have no times; record with --timestamp"
        case .noClock(let path):
            "'\(path)' has no event that tells where time goes (tracepoints, page faults and context "
                + "switches do not); record cpu-clock, too"
        }
    }
}
