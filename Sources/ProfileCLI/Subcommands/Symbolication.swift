import ProfileModel
import Recorder
import Recording
import Symbolicate

/// Symbolicating a recording right after it was made: with what the process left behind.
struct Symbolication {
    private let held: HeldFiles
    private let fetching: Fetching
    private var search = DebugFileSearch()

    init(_ held: HeldFiles, _ console: Console) {
        self.held = held
        fetching = Fetching(console: console)
        search.standIns = held.standIns
        search.root = held.root
    }

    /// The recording with its symbols, which are not yet in the file.
    func recording(at path: String) throws(RecordingError) -> Recording {
        var recording = try RecordingReader.load(path: path)
        perfMap(of: recording.header.pid)?.name(&recording)
        var search = search
        search.fetched = fetching.debugFiles(for: recording, search)
        recording.symbols = Symbolicator(search: search).symbolicate(recording)
        return recording
    }

    /// Where the process's own `/tmp` is.
    private func perfMap(of pid: Int32) -> PerfMap? {
        guard let owner = held.owner else { return nil }
        return PerfMap(path: "\(held.root ?? "")/tmp/perf-\(pid).map", owner: owner)
    }
}
