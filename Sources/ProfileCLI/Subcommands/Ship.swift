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
    /// Are read, and not written yet.
    private var pending: [ShippedFile] = []

    /// So much is written at once.
    private static let mostBytes = 16 << 20
    private static let mostFiles = 500
    /// A clock may differ by so much before it is told.
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
            ? "" : "; not shipped: \(pending[0].path.escapedForDisplay) and what comes after it"
    }

    private mutating func run() throws(StoreError) {
        if options.createsTables { try store.createTables() }
        guard !options.paths.isEmpty else { return }
        try store.checkSchema()
        let now = try store.now()
        let search = RecordingSearch(options.paths)
        for problem in search.problems { leaveOut(problem.description) }
        for file in search.found {
            guard let shipped = read(file) else { continue }
            if shipped.session.date > now + Self.skew {
                console.complain(
                    "\(file.path): its date lies ahead of the server's by more than a day: its "
                        + "machine's clock was wrong")
            }
            pending.append(shipped)
            let size = pending.reduce(0) { $0 + $1.size }
            if size >= Self.mostBytes || pending.count >= Self.mostFiles { try flush() }
        }
        try flush()
        if search.found.isEmpty, search.problems.isEmpty {
            leaveOut("\(options.paths.joined(separator: ", ")): no file (*.firstlight) there")
        }
    }

    private mutating func leaveOut(_ reason: String) {
        console.complain(reason)
        isIncomplete = true
    }

    /// What is told is in the tables.
    private mutating func flush() throws(StoreError) {
        guard !pending.isEmpty else { return }
        let shipped = try store.ship(pending)
        pending = []
        var lines: [String] = []
        for file in shipped.new {
            let count =
                file.session.launches == 1
                ? "1 launch" : "\(Numbers.grouped(file.session.launches)) launches"
            lines.append(Console.oneLine("shipped \(file.path): \(count)"))
        }
        lines += shipped.known.map { Console.oneLine("was there already: \($0.path)") }
        let text = lines.map { $0 + "\n" }.joined()
        if Output.print(text, to: console) != 0 { isIncomplete = true }
    }

    /// Complains, and returns nil, where there is nothing to ship.
    private mutating func read(_ file: FoundRecording) -> ShippedFile? {
        do throws(RecordingError) {
            switch try FileKind(of: file.path) {
            case .measurement:
                return ShippedFile(try MeasurementReader.load(path: file.path), path: file.path)
            case .recording:
                var unused = Timings()
                let recording = try Reading.symbolicatedRecording(at: file.path, &unused)
                if let reason = recording.noLaunch {
                    console.complain("\(file.path): \(reason); it is left out")
                    return nil
                }
                return ShippedFile(Profile(recording), date: file.written, path: file.path)
            }
        } catch {
            leaveOut(error.description)
            return nil
        }
    }
}
