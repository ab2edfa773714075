import Importer
import PerfData
import ProfileModel
import Recording
import Symbolicate

/// `firstlight import`.
enum ImportCommand {
    /// The file could not be read, or only partly.
    static let failure: Int32 = 1

    /// Makes a recording, prints its summary, and returns the exit status.
    static func run(_ options: ImportOptions, _ console: Console) -> Int32 {
        guard options.engine.isUsable(console) else { return failure }
        let result: PerfImport.Result
        do throws(ImportError) {
            result = try read(options, options.isQuiet ? nil : console.line)
        } catch {
            console.complain(error.description)
            return failure
        }
        if let damage = result.damage {
            console.complain("\(damage.description); what came before is imported")
        }
        var timings = Timings(of: result.timings)
        do throws(RecordingError) {
            try Symbolication(
                nil, cache: .ofUser, console, on: options.isQuiet ? nil : console.line
            )
            .complete(
                options.output, &timings,
                show: options.isQuiet
                    ? nil : { RecordingSummary.show($0, of: options.output, console) })
        } catch {
            console.complain(error.description)
            return failure
        }
        if options.showsTimings { timings.print(to: console) }
        return result.damage == nil ? 0 : failure
    }

    private static func read(
        _ options: ImportOptions, _ line: LiveLine?
    ) throws(ImportError) -> PerfImport.Result {
        var work = PerfImport(
            input: options.input, output: options.output, pid: options.pid,
            version: Version.current)
        work.engine = options.engine
        let stage = Stage<PerfImport.Progress?>(nil)
        work.tell = { stage.value = $0 }
        return try SlowStep.run(on: line, { stage.value.map(\.text) }) {
            () throws(ImportError) in try work.run()
        }
    }
}
