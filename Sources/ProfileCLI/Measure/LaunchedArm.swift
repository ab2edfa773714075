import Conditions
import Launching
import Measurer
import ProcessIO
import Sampler

/// A program, and the resources that its launches need.
final class LaunchedArm {
    let measurer: LaunchMeasurer
    let conditions: LaunchConditions
    let command: [CommandWord]
    /// The files that the first launch opens; nil: not needed, or not known yet.
    var opened: OpenedFiles?

    init(
        _ command: [CommandWord], _ request: ConditionRequest, _ signals: SignalQueue
    ) throws(MeasuringFailure) {
        self.command = command
        measurer = try MeasuringFailure.attempt { () throws(SamplerError) in
            try LaunchMeasurer(command, signals: signals)
        }
        let path = measurer.programPath
        conditions = try MeasuringFailure.attempt { () throws(ConditionError) in
            let conditions = try LaunchConditions(request, program: path)
            try conditions.adoptOrphans()
            return conditions
        }
    }
}
