import Analysis
import Exports
import ProfileModel
import Recording
import Report
import Sampler
import System

/// Reads recordings one after another; only the sums are kept.
struct TopReading {
    private let options: TopOptions
    private let search: RecordingSearch
    private(set) var sums: TopSums
    /// Recordings that were left out, and why.
    private(set) var leftOut: [(path: String, reason: String)] = []
    /// True if something could not be read.
    private(set) var isIncomplete = false
    private var times = (reading: TimeSpan.zero, analysing: TimeSpan.zero, adding: TimeSpan.zero)

    init(_ options: TopOptions, resolved: [ResolvedEntry]) {
        self.options = options
        search = RecordingSearch(options.paths)
        sums = TopSums(phase: options.phase, resolved: resolved)
    }

    /// Complains in one line about each recording that is left out.
    mutating func readAll(_ console: Console) {
        for problem in search.problems { leaveOut("", problem.description, console) }
        for file in search.found {
            // A folder may also contain measurements; leaving them out is no problem.
            if file.isFromFolder, (try? FileKind(of: file.path)) == .measurement { continue }
            do throws(RecordingError) {
                try read(file, console)
            } catch {
                leaveOut(file.path, error.description, console)
            }
        }
    }

    private mutating func leaveOut(_ path: String, _ reason: String, _ console: Console) {
        console.complain(reason)
        leftOut.append((path, reason))
        isIncomplete = true
    }

    private mutating func read(
        _ file: FoundRecording, _ console: Console
    ) throws(RecordingError) {
        let start = MonotonicTime.now
        var unused = Timings()
        var recording = try Reading.symbolicatedRecording(at: file.path, &unused)
        let read = MonotonicTime.now
        times.reading = times.reading + (read - start)
        if let reason = recording.noLaunch {
            let text = "\(file.path): \(reason); it is left out"
            console.complain(text)
            leftOut.append((file.path, text))
            return
        }
        recording.symbols = recording.symbols.named(options.names)
        let profile = Profile(recording)
        let analysed = MonotonicTime.now
        times.analysing = times.analysing + (analysed - read)
        sums.add(
            profile, TopLaunch(path: file.path, date: file.written / 1_000_000_000))
        times.adding = times.adding + (.now - analysed)
    }

    func addTimings(to timings: inout Timings) {
        let count = Numbers.count(search.found.count, "file")
        timings.add("reading", times.reading, count)
        timings.add("analysing", times.analysing)
        timings.add("adding up", times.adding)
    }

    static func attempt<Value>(
        _ body: () throws(TopError) -> Value
    ) throws(Reading.Failure) -> Value {
        do {
            return try body()
        } catch {
            throw Reading.Failure(error.description)
        }
    }
}
