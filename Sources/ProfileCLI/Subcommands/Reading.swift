import Analysis
import Glibc
import ProfileModel
import Recording
import Report
import Symbolicate

/// The common part of `report` and `fold`: a recording's file in, text out.
enum Reading {
    /// Why there was nothing to print; one line.
    struct Failure: Error {
        var message: String

        init(_ error: RecordingError) {
            message = error.description
            if case .cannotOpen(RecordOptions.defaultOutput, ENOENT) = error {
                message += "; make it with 'firstlight record', or name another file"
            }
        }

        init(_ message: String) { self.message = message }

        init(_ error: SelectionError) { message = error.description }
    }

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
        let isWhole = recording.modules.indices.allSatisfy {
            recording.symbols.modules[ModuleIndex($0)] != nil
                || Module.isRuntime(recording.modules[$0].path)
        }
        if !isWhole || recording.symbols.frames.isEmpty && recording.symbols.modules.isEmpty {
            let found = timings.measure("symbolicating") {
                var symbolicator = Symbolicator(cache: .ofUser)
                symbolicator.isCalledOff = { Interrupt.isPending }
                let found = symbolicator.find(recording)
                found.keep()
                return found
            }
            found.complete(&recording)
        }
        return recording
    }

    /// Nobody may be reading any more; the recording is what matters.
    static func summarize(_ recording: Recording, _ console: Console) {
        let text = summary(of: recording, on: console.terminal(of: .error))
        try? console.write(console.words(text), to: .error)
    }

    private static func summary(of recording: Recording, on terminal: Terminal) -> String {
        var options = TextOptions()
        options.width = terminal.width
        options.usesColour = terminal.usesColour
        return TextReport.render(Profile(recording), view: .summary, options: options)
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

    /// Prints the result of `render`, and returns the exit status: 0; 1 for a failure, with a
    /// complaint; 141 for a closed pipe, without a message, like a program that SIGPIPE killed.
    static func print(
        to console: Console, _ render: () throws(Failure) -> String
    ) -> Int32 {
        let text: String
        do {
            text = try render()
        } catch {
            console.complain(error.message)
            return 1
        }
        return Output.print(text, to: console)
    }

    /// Writes the result of `render` to a file, or else to standard output, and returns the exit
    /// status like ``print(to:_:)``.
    static func write(
        to path: String?, _ console: Console, _ render: () throws(Failure) -> [UInt8]
    ) -> Int32 {
        let bytes: [UInt8]
        do {
            bytes = try render()
        } catch {
            console.complain(error.message)
            return 1
        }
        guard let path else { return Output.print(bytes, to: console) }
        return Output.write(bytes, to: path, console)
    }
}
