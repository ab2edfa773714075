import Exports
import Importer
import PerfData
package import ProfileModel
import Recording
import Report
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

/// The options of `import`.
package struct ImportOptions: Hashable, Sendable {
    /// perf's file.
    package var input: String
    /// The path of the recording.
    package var output: String
    package var pid: Int32?
    package var engine: UnwindEngine
    package var isQuiet: Bool
    package var showsTimings: Bool

    package init(_ arguments: ParsedArguments) {
        input = arguments.operands.first ?? ""
        output = arguments.text(.output) ?? RecordOptions.defaultOutput
        pid = arguments.integer(.pid).flatMap { Int32(exactly: $0) }
        engine = arguments.text(.unwinder).flatMap(UnwindEngine.init) ?? .quick
        isQuiet = arguments.isGiven(.quiet)
        showsTimings = arguments.isGiven(.timings)
    }
}

extension PerfImport.Progress {
    /// "firstlight: reading, 12 MB of 40 MB"
    var text: String {
        let read = Numbers.bytes(Int64(clamping: position))
        let step = isSearching ? "looking for the process" : "reading"
        return "firstlight: \(step), \(read) of \(Numbers.bytes(Int64(clamping: size)))"
    }
}

extension Timings {
    init(of timings: ImportTimings) {
        self.init()
        add("reading perf.data", timings.reading)
        let stacks = Numbers.count(timings.stacks, "stack")
        let frames = Numbers.count(timings.frames, "frame")
        add("unwinding", timings.unwinding, cpu: timings.unwindingCPU, "\(stacks), \(frames)")
        add("writing slices", timings.writing)
    }
}
