import Analysis
import ClickHouse
import Glibc
import ProfileModel
import Recording
import Report

/// `firstlight ship`.
struct ShipCommand {
    private let options: ShipOptions
    private let console: Console
    private let store: Store
    private var isIncomplete = false
    /// Files that were read but not written yet.
    private var pending: [(file: FoundRecording, rows: ShippedFile)] = []
    private var pendingBytes = 0

    /// How many bytes are written at once.
    private static let mostBytes = 16 << 20
    /// How many files are asked for at once.
    private static let mostFiles = 500
    /// How far a clock may be off before this is reported.
    private static let skew: Int64 = 86_400_000_000_000

    /// Ships, and returns the exit status: 1 if something could not be read or written.
    static func run(_ options: ShipOptions, _ console: Console) -> Int32 {
        let store: Store
        do throws(Reading.Failure) {
            store = try StoreAccess.store(at: options.store)
        } catch {
            console.complain(error.message)
            return 1
        }
        var command = ShipCommand(options: options, console: console, store: store)
        do throws(StoreError) {
            try command.run()
            return command.isIncomplete ? 1 : 0
        } catch {
            console.complain(StoreAccess.words(error, options.store) + command.unsent)
            return 1
        }
    }

    private init(options: ShipOptions, console: Console, store: Store) {
        (self.options, self.console, self.store) = (options, console, store)
    }

    private var unsent: String {
        pending.isEmpty
            ? ""
            : "; not shipped: \(pending[0].file.path.escapedForDisplay) and what comes after it"
    }

    private mutating func run() throws(StoreError) {
        if options.createsTables { try store.createTables() }
        guard !options.paths.isEmpty else { return }
        try store.checkSchema()
        let now = try store.now()
        let search = RecordingSearch(options.paths)
        for problem in search.problems { leaveOut(problem.description) }
        var rest = search.found[...]
        while !rest.isEmpty {
            try ship(rest.prefix(Self.mostFiles), now)
            rest = rest.dropFirst(Self.mostFiles)
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
            if session.date - Self.skew > now {
                console.complain(
                    "\(file.path): its date is more than a day ahead of the server's: its machine's "
                        + "clock was wrong")
            }
            guard let shipped = read(file, session) else { continue }
            pending.append((file, shipped))
            pendingBytes += shipped.size
            if pendingBytes >= Self.mostBytes { try flush() }
        }
        try flush()
    }

    private mutating func leaveOut(_ reason: String) {
        console.complain(reason)
        isIncomplete = true
    }

    /// Reports only what is in the tables.
    private mutating func flush() throws(StoreError) {
        guard !pending.isEmpty else { return }
        try store.ship(pending.map(\.rows))
        let lines = pending.map { file, rows in
            let launches = rows.session.launches
            return "shipped \(file.path): "
                + (launches == 1 ? "1 launch" : "\(Numbers.grouped(launches)) launches")
        }
        (pending, pendingBytes) = ([], 0)
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
