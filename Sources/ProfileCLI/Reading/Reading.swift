import Analysis
import Exports
import ProfileModel
import Recording
import Report
import Symbolicate

/// Reads recordings, for all subcommands that show or convert them.
enum Reading {
    /// The recording. It is symbolicated here if that was not done when it was made (its recorder
    /// was killed, or the search was stopped).
    ///
    /// - Parameter process: the id or the name of a process; nil: all.
    static func profile(
        of path: String, names: NameStyle, process: String? = nil
    ) throws(Failure) -> Profile {
        var timings = Timings()
        return try profile(of: path, names: names, process: process, &timings)
    }

    static func profile(
        of path: String, names: NameStyle, process: String? = nil, _ timings: inout Timings
    ) throws(Failure) -> Profile {
        var recording: Recording?
        do throws(RecordingError) {
            recording = try symbolicatedRecording(at: path, &timings)
        } catch {
            throw Failure(error)
        }
        do throws(SelectionError) {
            if let process { recording = try recording?.process(named: process) }
        } catch {
            throw Failure(error)
        }
        return try timings.measure("analysing") { () throws(Failure) in
            // Only the profile owns it now.
            guard let all = recording.take() else { throw Failure("\(path): nothing was read") }
            return analyse(all, names)
        }
    }

    private static func analyse(_ recording: consuming Recording, _ names: NameStyle) -> Profile {
        recording.symbols = recording.symbols.named(names)
        return Profile(recording)
    }

    /// The recording as a file of plain tables.
    static func tables(of path: String) throws(Failure) -> [UInt8] {
        do throws(RecordingError) {
            return try RecordingFile.unpacked(path)
        } catch {
            throw Failure(error)
        }
    }

    static func symbolicatedRecording(
        at path: String, _ timings: inout Timings
    ) throws(RecordingError) -> Recording {
        var recording = try timings.measure("reading") { () throws(RecordingError) in
            try RecordingReader.load(path: path)
        }
        guard !recording.isSymbolicated else { return recording }
        let found = timings.measure("symbolicating") {
            var symbolicator = Symbolicator(cache: .ofUser)
            symbolicator.isCalledOff = { Interrupt.isPending }
            let found = symbolicator.find(recording)
            found.keep()
            return found
        }
        found.complete(&recording)
        return recording
    }

    static func selection(
        of profile: Profile, phase: String?, thread: String?, interval: String?
    ) throws(Failure) -> Selection {
        do {
            return try profile.selection(phase: phase, thread: thread, interval: interval)
        } catch {
            throw Failure(error)
        }
    }
}
