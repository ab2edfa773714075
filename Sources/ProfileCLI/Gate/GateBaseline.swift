import Analysis
import Glibc
import Launching
import Measurer
import ProfileModel
import Recording
import Sampler

/// The figures that a gate compares a program with.
enum GateBaseline {
    /// A command that takes turns with the program.
    case command([String])
    /// Figures that can only advise, and their file.
    case stored(Measurement, StoredBaseline.Reason, file: String)

    /// Reads the value of `--baseline`.
    init(_ options: GateOptions) throws(MeasuringFailure) {
        let text = options.baseline
        switch try Self.kind(of: text) {
        case .measurement: self = try Self.stored(text, options.launching.program)
        case .recording:
            throw Self.failure(
                "\(text) is a recording, not a measurement; 'firstlight measure' makes one")
        case nil:
            do {
                self = .command(try CommandSplitting.words(of: text))
            } catch {
                throw Self.failure(error.description)
            }
        }
    }

    /// The kind of the file with that name; nil: there is none, or it may be a program.
    private static func kind(of text: String) throws(MeasuringFailure) -> FileKind? {
        var status = stat()
        guard stat(text, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        do {
            return try FileKind(of: text)
        } catch {
            if access(text, X_OK) == 0 { return nil }
            if case .notARecording = error {
                throw failure("\(text) is neither a measurement nor a program that can be run")
            }
            throw failure(error.description)
        }
    }

    private static func stored(
        _ path: String, _ program: [CommandWord]
    ) throws(MeasuringFailure) -> GateBaseline {
        let stored = try MeasuringFailure.attempt { () throws(RecordingError) in
            try MeasurementReader.load(path: path)
        }
        let measured = program.first.flatMap { try? ProgramLookup.resolve($0) }
        let file = stored.arms.first.flatMap { StoredBaseline.ProgramFile($0.path, measured?.text) }
        return switch StoredBaseline(stored, file: file) {
        case .turns(let command): .command(command)
        case .advice(let reason): .stored(stored, reason, file: path)
        }
    }

    private static func failure(_ text: String) -> MeasuringFailure {
        MeasuringFailure("--baseline: " + text, status: OwnStatus.failure)
    }
}

extension StoredBaseline.ProgramFile {
    /// The program at a path; nil: there is no executable file.
    ///
    /// - Parameter measured: the path of the program to be measured; nil: there is none.
    fileprivate init?(_ path: String, _ measured: String?) {
        var (found, other) = (stat(), stat())
        guard access(path, X_OK) == 0, stat(path, &found) == 0 else { return nil }
        let isMeasured =
            measured.map { stat($0, &other) == 0 } ?? false
            && (found.st_dev, found.st_ino) == (other.st_dev, other.st_ino)
        // A program that was moved there may be older than the measurement, but its status change
        // is not.
        let times = [found.st_mtim, found.st_ctim].map {
            Int64($0.tv_sec) &* 1_000_000_000 &+ Int64($0.tv_nsec)
        }
        self.init(changed: times.max() ?? 0, isMeasured: isMeasured)
    }
}
