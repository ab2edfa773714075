import PerfData
import ProfileModel
import Recorder
import Recording
import Report
import Sampler
import Symbolicate

/// `firstlight import`.
enum ImportCommand {
    /// The file could not be read, or only in part.
    static let failure: Int32 = 1

    /// Makes a recording, prints its summary, and returns the exit status.
    static func run(_ options: ImportOptions, _ console: Console) -> Int32 {
        let result: PerfImport.Result
        do throws(ImportError) {
            result = try PerfImport(
                input: options.input, output: options.output, pid: options.pid,
                version: Version.current
            ).run()
        } catch {
            console.complain(error.description)
            return failure
        }
        if let damage = result.damage {
            console.complain("\(damage.description); what came before is imported")
        }
        var timings = Timings(of: result.timings)
        do throws(RecordingError) {
            let recording = try Symbolication(nil, cache: .ofUser, console)
                .complete(options.output, &timings)
            if !options.isQuiet { Reading.summarize(recording, console) }
        } catch {
            console.complain(error.description)
            return failure
        }
        if options.showsTimings { timings.print(to: console) }
        return result.damage == nil ? 0 : failure
    }
}

extension Timings {
    fileprivate init(of timings: ImportTimings) {
        self.init()
        add("reading perf.data", timings.reading)
        let stacks = Numbers.count(timings.stacks, "stack")
        let frames = Numbers.count(timings.frames, "frame")
        add("unwinding", timings.unwinding, cpu: timings.unwindingCPU, "\(stacks), \(frames)")
        add("writing slices", timings.writing)
    }
}
