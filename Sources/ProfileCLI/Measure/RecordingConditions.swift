import Conditions
import Measurer
import ProfileModel
import Sampler

extension ConditionRequest {
    /// What `--network` and `--disk` say.
    init(network: String?, disk: String?) throws(ConditionError) {
        self.init()
        if let network { self.network = try NetworkCondition(parsing: network) }
        if let disk { self.disk = try DiskRate(parsing: disk) }
    }
}

/// What the program of a recording is launched in. It goes with this value.
final class RecordingConditions: @unchecked Sendable {
    private let conditions: LaunchConditions
    /// Why it could not be made cold. Written by the thread that launches, before it goes on.
    private var failure: ConditionError?

    /// Those of a measurement whose launches are over.
    init(_ conditions: LaunchConditions) { self.conditions = conditions }

    /// Those that are given, or else what the options ask for; nil: nothing.
    ///
    /// - Throws: they cannot be had, or there is no such program. Nothing has been launched.
    static func of(
        _ options: RecordOptions, or given: RecordingConditions?
    ) throws(MeasuringFailure) -> RecordingConditions? {
        guard given == nil, case .launch(let words) = options.target, let name = words.first,
            options.network != nil || options.disk != nil
        else { return given }
        let path = try ProgramLauncher.attempt { () throws(SamplerError) in
            try ProgramLookup.resolve(name).text
        }
        return try ProgramLauncher.attempt { () throws(ConditionError) in
            let request = try ConditionRequest(network: options.network, disk: options.disk)
            return RecordingConditions(try LaunchConditions(request, program: path))
        }
    }

    /// Has the program launched in them.
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

    /// What a reader of the recording should know.
    var notes: [String] { conditions.notes + (failure.map { [$0.description] } ?? []) }
}
