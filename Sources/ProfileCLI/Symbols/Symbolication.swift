import Analysis
import Exports
import Glibc
import ProfileModel
import Recorder
import Recording
import Report
import Runtimes
import Symbolicate
import System

/// Symbolicates a recording right after it was made.
struct Symbolication {
    /// Files of the processes that stay open until the end; nil: none (an import).
    private let held: HeldFiles?
    private let maps: PerfMaps
    private let cache: SymbolCache?
    private let fetching: Fetching
    /// nil: progress is not shown.
    private let line: LiveLine?
    private var search = DebugFileSearch()

    /// - Parameters:
    ///   - held: files that the recorder kept open for us; nil: none.
    ///   - node: the request that made Node's processes write maps; nil: there was none.
    ///   - cache: what earlier symbolication found; nil: none.
    ///   - line: where progress is shown; nil: nowhere.
    init(
        _ held: HeldFiles?, node: NodeRequest? = nil, cache: SymbolCache?, _ console: Console,
        on line: LiveLine?
    ) {
        self.held = held
        maps = PerfMaps(
            at: held?.maps ?? [:], scriptRoots: held?.scriptRoots ?? [:], node: node)
        self.cache = cache
        self.line = line
        fetching = Fetching(console: console, line: line)
        guard let held else { return }
        search.standIns = held.standIns
        search.root = held.root
        search.otherRoots = held.roots
    }

    /// Stores the recording's symbols in its file, so that it can be read anywhere, and new results
    /// in the cache.
    /// - Parameter show: called with the recording while its symbols are stored. nil: nothing is
    ///   called, so no thread is needed.
    /// - Returns: how many modules were left out, because the user asked us to end.
    @discardableResult
    func complete(
        _ path: String, _ timings: inout Timings, show: ((Recording) -> Void)? = nil
    ) throws(RecordingError) -> Int {
        var recording = try timings.measure("reading") { () throws(RecordingError) in
            // For a long recording this is far less.
            show == nil && !fetching.isAskedFor
                ? try RecordingReader.loadAddresses(path: path)
                : try RecordingReader.load(path: path)
        }
        timings.measure("reading perf maps") { maps.name(&recording) }
        var search = search
        search.fetched = fetching.debugFiles(for: recording, search)
        let found = timings.measure("symbolicating") { find(recording, search) }
        guard let show else {
            if let failure = Self.store(found, in: path) { throw failure }
            return found.left
        }
        found.complete(&recording)
        let (duration, failure) = Workers.run {
            let start = MonotonicTime.now
            let failure = Self.store(found, in: path)
            return (.now - start, failure)
        } while: {
            show(recording)
        }
        timings.add("storing symbols", duration)
        if let failure { throw failure }
        return found.left
    }

    private static func store(_ found: Symbolicator.Found, in path: String) -> RecordingError? {
        defer { found.keep() }
        do throws(RecordingError) {
            try RecordingFile.store(found.symbols, references: found.references, in: path)
            return nil
        } catch {
            return error
        }
    }

    private func find(_ recording: Recording, _ search: DebugFileSearch) -> Symbolicator.Found {
        let stage = Stage(Lookups())
        var symbolicator = Symbolicator(search: search, cache: cache)
        symbolicator.tell = { progress in stage.update { $0.note(progress) } }
        symbolicator.isCalledOff = { Interrupt.isPending }
        return SlowStep.run(on: line, { stage.value.text }) { symbolicator.find(recording) }
    }
}

/// Fetches missing debug information, if the user has named a server (DEBUGINFOD_URLS).
struct Fetching {
    let console: Console
    /// nil: progress is not shown.
    let line: LiveLine?

    private var server: Debuginfod? {
        Debuginfod(environment: { getenv($0).map { String(cString: $0) } })
    }

    /// True if the user has named a server.
    var isAskedFor: Bool { server != nil }

    /// The debug files that were fetched.
    func debugFiles(for recording: Recording, _ search: DebugFileSearch) -> [Module: String] {
        guard let server else { return [:] }
        let wanted = Debuginfod.missing(
            of: Profile(recording).modulesWorthMending.map(\.module), search)
        guard !wanted.isEmpty else { return [:] }
        guard Debuginfod.isInstalled else {
            console.complain(
                "DEBUGINFOD_URLS is set, but libdebuginfod.so.1 (0.179 or later) is not installed")
            return [:]
        }
        defer { line?.wipe() }
        return server.fetch(for: wanted) { [line] progress in
            line?.show(Self.text(progress))
            return !Interrupt.isPending
        }
    }

    private static func text(_ progress: Debuginfod.Progress) -> String {
        let bytes = progress.bytes > 0 ? ", " + Numbers.bytes(Int64(progress.bytes)) : ""
        return "firstlight: fetching debug information (\(progress.number) of "
            + "\(progress.count)): \(progress.module.name)\(bytes)"
    }
}
