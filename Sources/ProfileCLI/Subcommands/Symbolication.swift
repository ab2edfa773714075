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
    private var search = DebugFileSearch()

    /// - Parameters:
    ///   - held: what the process left behind; nil: there was none.
    ///   - cache: what earlier symbolication found; nil for none.
    init(_ held: HeldFiles?, cache: SymbolCache?, _ console: Console) {
        self.held = held
        self.cache = cache
        fetching = Fetching(console: console)
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
            recording.symbols = Symbolicator(search: search, cache: cache).symbolicate(recording)
        }
        try timings.measure("storing symbols") { () throws(RecordingError) in
            try RecordingFile.store(recording.symbols, in: path)
        }
        return recording
    }

    /// Where the process's own `/tmp` is.
    private func perfMap(of pid: Int32) -> PerfMap? {
        guard let held, let owner = held.owner else { return nil }
        return PerfMap(path: "\(held.root ?? "")/tmp/perf-\(pid).map", owner: owner)
    }
}
