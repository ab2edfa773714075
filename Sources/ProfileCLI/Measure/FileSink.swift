import Measurer
import ProfileModel
import Recording

/// Stores launches in the measurement's file, if there is one.
struct FileSink: LaunchSink {
    private let writer: MeasurementWriter?

    /// - Parameter path: an earlier file there becomes `path`.old; nil: nothing is stored.
    init(_ path: String?, _ measurement: Measurement) throws(MeasuringFailure) {
        guard let path else {
            writer = nil
            return
        }
        writer = try MeasuringFailure.attempt { () throws(RecordingError) in
            try RecordingFile.keepOlder(at: path, for: .measurement)
            return try MeasurementWriter(creating: path, measurement)
        }
    }

    mutating func append(_ launch: MeasuredLaunch) throws(MeasuringFailure) {
        try MeasuringFailure.attempt { () throws(RecordingError) in try writer?.append(launch) }
    }

    mutating func discard(
        _ index: Int, as reason: MeasuredLaunch.Discard
    ) throws(MeasuringFailure) {
        try MeasuringFailure.attempt { () throws(RecordingError) in
            try writer?.discard(index, as: reason)
        }
    }

    mutating func extend(to requested: Int) { writer?.extend(to: requested) }

    mutating func finish(_ ending: Measurement.Ending) throws(MeasuringFailure) {
        try MeasuringFailure.attempt { () throws(RecordingError) in try writer?.finish(ending) }
    }
}
