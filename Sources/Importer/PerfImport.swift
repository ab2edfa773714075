package import PerfData
package import ProfileModel
import Recording
import System

/// Makes a recording from a file of `perf record`.
package struct PerfImport: Sendable {
    package var input: String
    /// The path of the recording; an older one there is kept as `.old`.
    package var output: String
    /// nil: the process that perf started, or if it started none, the one with the most samples.
    package var pid: Int32?
    package var engine = UnwindEngine.quick
    /// The version of this program, for the file's header.
    package var version: String
    /// Called now and then with the progress.
    package var tell: (@Sendable (Progress) -> Void)?

    package struct Progress: Hashable, Sendable {
        /// True while we search for the process, false while we import it.
        package var isSearching: Bool
        /// How many of the file's bytes were read.
        package var position: UInt64
        package var size: UInt64
    }

    package init(input: String, output: String, pid: Int32?, version: String) {
        self.input = input
        self.output = output
        self.pid = pid
        self.version = version
    }

    package struct Result: Sendable {
        /// Where the input is damaged; the recording has the part before.
        package var damage: PerfDataError?
        package var timings: ImportTimings
    }

    /// Reads the file twice: first to find the process, then to import it.
    package func run() throws(ImportError) -> Result {
        do throws(RecordingError) {
            try RecordingFile.checkWritable(output)
        } catch {
            throw .recording(error)
        }
        var timings = ImportTimings()
        let start = MonotonicTime.now
        let file = try open()
        let choice = try ProcessChoice(pid, in: file, path: input) {
            tell(of: file, isSearching: true)
        }
        timings.reading = .now - start
        // A file from a pipe has its events among the records.
        guard file.events.allSatisfy({ $0.hasTimes }) else { throw .noTimes(path: input) }
        let event = TimeEvent(file)
        guard event.isThere || event.knowsSwitches else { throw .noClock(path: input) }
        return try read(choice, event, timings)
    }

    private func open() throws(ImportError) -> PerfFile {
        do {
            return try PerfFile(path: input)
        } catch {
            throw .input(error)
        }
    }

    private func read(
        _ choice: ProcessChoice, _ event: TimeEvent, _ timings: ImportTimings
    ) throws(ImportError) -> Result {
        let file = try open()
        var header = Recording.Header(
            pid: choice.pid, isAttached: false, capture: .perf, frequency: event.frequency)
        header.recorderVersion = version
        header.importSource = RecordedText.bounded(event.description)
        let writer = ImportWriter(path: output, header: header, engine: engine)
        writer.timings = timings
        var process = ImportedProcess(choice, event, file, writer)
        let damage: PerfDataError?
        do throws(RecordingError) {
            damage = try take(file, into: &process, writer)
            var facts = try process.finish()
            if let damage {
                facts.notes.append(RecorderNote(.damagedInput, Int64(clamping: damage.offset)))
            }
            try writer.finish(facts) {
                $0.isAttached = process.isAttached
                ($0.ticks, $0.samples) = (process.samples, process.samples)
                $0.account = event.recordsSwitches ? .switches : nil
            }
        } catch {
            throw .recording(error)
        }
        guard writer.sliceCount > 0 else {
            throw damage.map(ImportError.input)
                ?? .noSamples(path: input, pid: choice.pid, busiest: nil)
        }
        return Result(damage: damage, timings: writer.timings)
    }

    /// In records of perf.
    static let tellInterval = 1_000

    private func tell(of file: PerfFile, isSearching: Bool) {
        tell?(Progress(isSearching: isSearching, position: file.position, size: file.size))
    }

    /// - Returns: the damage, if there is any.
    private func take(
        _ file: PerfFile, into process: inout ImportedProcess, _ writer: ImportWriter
    ) throws(RecordingError) -> PerfDataError? {
        var records = 0
        while true {
            let start = MonotonicTime.now
            let record: PerfRecord?
            do throws(PerfDataError) {
                record = try file.next()
            } catch {
                return error
            }
            writer.timings.reading = writer.timings.reading + (.now - start)
            guard let record else { return nil }
            records += 1
            if records.isMultiple(of: Self.tellInterval) { tell(of: file, isSearching: false) }
            try process.take(record)
        }
    }
}
