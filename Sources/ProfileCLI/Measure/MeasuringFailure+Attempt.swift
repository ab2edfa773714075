import Conditions
import Measurer
import ProcessIO
import Recording
import Sampler

/// Turns errors of other modules into failures with an exit status.
extension MeasuringFailure {
    static func attempt<Value>(
        _ body: () throws(RecordingError) -> Value
    ) throws(MeasuringFailure) -> Value {
        do {
            return try body()
        } catch {
            throw MeasuringFailure(error.description, status: OwnStatus.failure)
        }
    }

    static func attempt<Value>(
        _ body: () throws(SamplerError) -> Value
    ) throws(MeasuringFailure) -> Value {
        do {
            return try body()
        } catch {
            throw MeasuringFailure(error.description, status: error.exitStatus)
        }
    }

    static func attempt<Value>(
        _ body: () throws(ConditionError) -> Value
    ) throws(MeasuringFailure) -> Value {
        do {
            return try body()
        } catch {
            throw MeasuringFailure(error.description, status: error.exitStatus)
        }
    }
}
