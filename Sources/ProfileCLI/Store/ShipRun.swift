import Analysis
import ClickHouse
import Exports
import Glibc
import ProfileModel
import Recording
import Report

/// Ships the content of files to a store, and reports each file once it is in the tables.
struct ShipRun {
    private let options: ShipOptions
    private let console: Console
    private let store: Store
    /// True if something could not be read or reported.
    private(set) var isIncomplete = false
    private var batch = ShippingBatch<FoundRecording>()

    init(_ options: ShipOptions, to store: Store, _ console: Console) {
        (self.options, self.console, self.store) = (options, console, store)
    }

    /// Names the first file that was not sent, after a failure; empty: no file was ready.
    var unsent: String {
        guard let first = batch.first else { return "" }
        return "; not shipped: \(first.path.escapedForDisplay) and what comes after it"
    }

    mutating func run() throws(StoreError) {
        if options.createsTables { try store.createTables() }
        guard !options.paths.isEmpty else { return }
        try store.checkSchema()
        let now = try store.now()
        let search = RecordingSearch(options.paths)
        for problem in search.problems { leaveOut(problem.description) }
        var rest = search.found[...]
        while !rest.isEmpty {
            try ship(rest.prefix(ShippingBatch<FoundRecording>.mostAsked), now)
            rest = rest.dropFirst(ShippingBatch<FoundRecording>.mostAsked)
        }
        if search.found.isEmpty, search.problems.isEmpty {
            leaveOut("\(options.paths.joined(separator: ", ")): no file (*.firstlight) there")
        }
    }

    private mutating func ship(
        _ files: ArraySlice<FoundRecording>, _ now: Int64
    ) throws(StoreError) {
        var found: [(file: FoundRecording, session: ShippedSession)] = []
        for file in files {
            if let session = session(of: file) { found.append((file, session)) }
        }
        let known = options.isAgain ? [] : try store.known(found.map(\.session))
        for (file, session) in found {
            guard !known.contains(session) else {
                told(["was there already: \(file.path)"])
                continue
            }
            if session.isAhead(of: now) {
                console.complain(
                    "\(file.path): its date is more than a day ahead of the server's: its machine's "
                        + "clock was wrong")
            }
            guard let shipped = read(file, session) else { continue }
            batch.append(shipped, of: file)
            if batch.isFull { try flush() }
        }
        try flush()
    }

    private mutating func leaveOut(_ reason: String) {
        console.complain(reason)
        isIncomplete = true
    }

    /// Reports files only once their rows are in the tables.
    private mutating func flush() throws(StoreError) {
        guard !batch.files.isEmpty else { return }
        try store.ship(batch.files.map(\.rows))
        let lines = batch.files.map { file, rows in
            let launches = rows.session.launches
            return "shipped \(file.path): "
                + (launches == 1 ? "1 launch" : "\(Numbers.grouped(launches)) launches")
        }
        batch.removeAll()
        told(lines)
    }

    private mutating func told(_ lines: [String]) {
        let text = lines.map { Console.oneLine($0) + "\n" }.joined()
        if Output.print(text, to: console) != 0 { isIncomplete = true }
    }

    // MARK: Reading

    /// A file's session. Complains, and returns nil, if there is nothing to ship.
    private mutating func session(of file: FoundRecording) -> ShippedSession? {
        do throws(RecordingError) {
            switch try FileKind(of: file.path) {
            case .measurement:
                return ShippedSession(of: try MeasurementReader.load(path: file.path))
            case .recording:
                let recording = try RecordingReader.load(path: file.path)
                if let reason = recording.noLaunch {
                    console.complain("\(file.path): \(reason); it is left out")
                    return nil
                }
                return ShippedSession(of: recording, date: file.written)
            }
        } catch {
            leaveOut(file, error)
            return nil
        }
    }

    private mutating func read(
        _ file: FoundRecording, _ session: ShippedSession
    ) -> ShippedFile? {
        let path = Self.absolute(file.path)
        do throws(RecordingError) {
            switch try FileKind(of: file.path) {
            case .measurement:
                return ShippedFile(try MeasurementReader.load(path: file.path), path: path)
            case .recording:
                var unused = Timings()
                let recording = try Reading.symbolicatedRecording(at: file.path, &unused)
                return ShippedFile(Profile(recording), session, path: path)
            }
        } catch {
            leaveOut(file, error)
            return nil
        }
    }

    /// A folder may contain unfinished files.
    private mutating func leaveOut(_ file: FoundRecording, _ error: RecordingError) {
        if case .inUse = error, file.isFromFolder {
            console.complain("\(file.path): is still being written; it will be shipped next time")
        } else {
            leaveOut(error.description)
        }
    }

    /// Other machines do not know our current folder.
    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }
}
