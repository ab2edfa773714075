import FuzzSupport
import Recording

private let file = TemporaryFile("recording")

/// The bytes of a recording or of a measurement: whatever can be loaded is reported in every form.
@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    file.write(UnsafeRawBufferPointer(start: data, count: size))
    if let recording = try? RecordingReader.load(path: file.path) { showEverything(recording) }
    if let measurement = try? MeasurementReader.load(path: file.path) {
        showEverything(measurement)
    }
    return 0
}

@main enum Main {
    static func main() { run() }
}
