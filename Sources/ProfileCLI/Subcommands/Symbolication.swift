import ProfileModel
import Recorder
import Recording
import Symbolicate

/// Symbolicating a recording right after it was made.
struct Symbolication {
    /// nil: nothing was left behind (an import).
    private let held: HeldFiles?
    private let cache: SymbolCache?
    private let fetching: Fetching
    /// nil: what takes long is not said.
    private let line: LiveLine?
    private var search = DebugFileSearch()

    /// - Parameters:
    ///   - held: what the process left behind; nil: there was none.
    ///   - cache: what earlier symbolication found; nil for none.
    init(_ held: HeldFiles?, cache: SymbolCache?, _ console: Console, isQuiet: Bool) {
        self.held = held
        self.cache = cache
        line = isQuiet ? nil : console.line
        fetching = Fetching(console: console, line: line)
        guard let held else { return }
        search.standIns = held.standIns
        search.root = held.root
    }

    /// Stores the recording's symbols in its file, so that it can be read anywhere.
    /// - Returns: the recording with them.
    func complete(_ path: String, _ timings: inout Timings) throws(RecordingError) -> Recording {
        var recording = try timings.measure("reading") { () throws(RecordingError) in
            try RecordingReader.load(path: path)
        }
        perfMap(of: recording.header.pid)?.name(&recording)
        var search = search
        search.fetched = fetching.debugFiles(for: recording, search)
        timings.measure("symbolicating") {
            recording.symbols = symbols(of: recording, search)
        }
        try timings.measure("storing symbols") { () throws(RecordingError) in
            try RecordingFile.store(recording.symbols, in: path)
        }
        return recording
    }

    private func symbols(of recording: Recording, _ search: DebugFileSearch) -> SymbolTable {
        let stage = Stage(Lookups())
        var symbolicator = Symbolicator(search: search, cache: cache)
        symbolicator.tell = { progress in stage.update { $0.note(progress) } }
        return SlowStep.run(on: line, { stage.value.text }) {
            symbolicator.symbolicate(recording)
        }
    }

    /// Where the process's own `/tmp` is.
    private func perfMap(of pid: Int32) -> PerfMap? {
        guard let held, let owner = held.owner else { return nil }
        return PerfMap(path: "\(held.root ?? "")/tmp/perf-\(pid).map", owner: owner)
    }
}
