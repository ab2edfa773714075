import Analysis
import Exports
import Glibc
import ProfileModel
import Recording
import Report
import System

/// `firstlight export` for figures: only the figures of each file are kept.
struct MetricsExport {
    private let arguments: ExportArguments
    private let format: MetricsFormat

    init(_ arguments: ExportArguments, _ format: MetricsFormat) {
        (self.arguments, self.format) = (arguments, format)
    }

    /// Returns the exit status: also 1 if a file is missing in the output.
    func run(_ console: Console) -> Int32 {
        var metrics = LaunchMetrics()
        let search = RecordingSearch(arguments.paths)
        var isIncomplete = false
        func leaveOut(_ reason: String) {
            console.complain(reason)
            isIncomplete = true
        }
        for problem in search.problems { leaveOut(problem.description) }
        for file in search.found {
            do throws(Reading.Failure) {
                try add(file, to: &metrics, console)
            } catch {
                leaveOut(error.message)
            }
        }
        guard !metrics.isEmpty else {
            console.complain("nothing to export: none of these has a launch")
            return 1
        }
        tellMerged(metrics, console)
        let text = format.render(
            metrics, version: Version.current, host: MeasuredMachine.hostName, date: WallClock.now)
        let status = deliver(Array(text.utf8), console)
        return status == 0 && isIncomplete ? 1 : status
    }

    private func deliver(_ bytes: [UInt8], _ console: Console) -> Int32 {
        if let server = arguments.server {
            return MetricsSending(to: server).send(bytes, console)
        }
        let place = arguments.textFolder.map { "\($0)/firstlight.prom" } ?? arguments.output
        return place.map { Output.write(bytes, to: $0, console) }
            ?? Output.print(bytes, to: console)
    }

    private func add(
        _ file: FoundRecording, to metrics: inout LaunchMetrics, _ console: Console
    ) throws(Reading.Failure) {
        do throws(RecordingError) {
            switch try FileKind(of: file.path) {
            case .measurement: metrics.add(try MeasurementReader.load(path: file.path))
            case .recording:
                let recording = try RecordingReader.load(path: file.path)
                if let reason = recording.noLaunch {
                    return console.complain("\(file.path): \(reason); it is left out")
                }
                let isUnended = recording.isUnended
                let profile = Profile(recording)
                guard profile.ready != nil || !isUnended else {
                    return console.complain(
                        "\(file.path): \(NoLaunch.notOver); it is left out")
                }
                metrics.add(profile, date: file.written)
            }
        } catch {
            throw Reading.Failure(error)
        }
    }

    /// Figures that were counted under another name must be reported.
    private func tellMerged(_ metrics: LaunchMetrics, _ console: Console) {
        if metrics.merged > 0 {
            console.complain(
                "\(Numbers.grouped(metrics.merged)) launches of more than "
                    + "\(LaunchMetrics.mostSeries - 1) programs, versions and machines are counted as "
                    + LaunchMetrics.other)
        }
        if metrics.mergedPhases > 0 {
            console.complain(
                "\(Numbers.count(Int(metrics.mergedPhases), "phase")) beyond "
                    + "\(LaunchMetrics.mostPhases - 1) a program are counted as "
                    + LaunchMetrics.other)
        }
    }
}
