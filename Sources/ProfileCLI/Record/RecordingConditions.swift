import Conditions
import Launching
import Measurer
import ProcessIO
import ProfileModel
import Sampler

extension ConditionRequest {
    /// From the values of `--network` and `--disk`.
    init(network: String?, disk: String?) throws(ConditionError) {
        self.init()
        if let network { self.network = try NetworkCondition(parsing: network) }
        if let disk { self.disk = try DiskRate(parsing: disk) }
    }
}

/// The conditions in which a recorded program runs. They end with this value.
final class RecordingConditions: @unchecked Sendable {
    private let conditions: LaunchConditions
    /// Why the launch could not be made cold. Written by the launching thread before it goes on.
    private var failure: ConditionError?

    /// The conditions of a measurement whose launches are over.
    init(_ conditions: LaunchConditions) { self.conditions = conditions }

    /// The given conditions, or else those that the options ask for; nil: none.
    ///
    /// - Throws: they are unavailable, or the program does not exist. Nothing has been launched.
    static func of(
        _ options: RecordOptions, or given: RecordingConditions?
    ) throws(MeasuringFailure) -> RecordingConditions? {
        guard given == nil, case .launch(let words) = options.target, let name = words.first,
            options.network != nil || options.disk != nil
        else { return given }
        let path = try MeasuringFailure.attempt { () throws(SamplerError) in
            try ProgramLookup.resolve(name).text
        }
        return try MeasuringFailure.attempt { () throws(ConditionError) in
            let request = try ConditionRequest(network: options.network, disk: options.disk)
            return RecordingConditions(try LaunchConditions(request, program: path))
        }
    }

    /// The changes to the program's environment.
    var changes: [EnvironmentChange] { conditions.childSetting.environment }

    /// Applies them to the program's launch.
    func apply(to sampling: inout SamplerOptions) {
        sampling.child = conditions.childSetting
        sampling.prepare = { _ in
            do throws(ConditionError) {
                _ = try self.conditions.evict()
            } catch {
                self.failure = error
            }
        }
    }

    /// Notes for readers of the recording.
    var notes: [String] { conditions.notes + (failure.map { [$0.description] } ?? []) }
}
