import FuzzSupport
import Recording

private let file = TemporaryFile("recording")

/// The bytes of a recording or of a measurement: whatever can be loaded is reported in every form.
func fuzzRecording(_ bytes: UnsafeRawBufferPointer) {
    file.write(bytes)
    if let recording = try? RecordingReader.load(path: file.path) { showEverything(recording) }
    if let measurement = try? MeasurementReader.load(path: file.path) {
        showEverything(measurement)
    }
}
