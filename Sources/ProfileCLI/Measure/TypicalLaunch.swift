import Analysis
import Measurer
import ProfileModel

/// The launch with stacks after a measurement (`--then-record`).
struct TypicalLaunch {
    let options: MeasureOptions
    let measurement: Measurement
    let launcher: ProgramLauncher

    /// Records it, and reports how far it was from the median.
    func record(_ console: Console) throws(MeasuringFailure) {
        let path = options.recordingPath
        let launch = StackedLaunch(options: options, launcher: launcher)
        guard let profile = try launch.record(arm: 0, to: path, tell: { console.complain($0) }),
            let median = MeasurementSummary(of: measurement).arms.first?.wall?.median
        else { return }
        console.complain(
            MeasuringWords.typical(
                path: path, wall: profile.launch.wall,
                median: TimeSpan(nanoseconds: Int64(median))))
    }
}
