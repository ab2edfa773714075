import FuzzSupport
import Importer
import Recording

private let file = TemporaryFile("perf")
private let output = TemporaryFile("imported")

/// A file of perf's: what can be imported of it makes a recording that can be read.
func fuzzPerfData(_ bytes: UnsafeRawBufferPointer) {
    file.write(bytes)
    output.write(UnsafeRawBufferPointer(start: nil, count: 0))
    let perf = PerfImport(input: file.path, output: output.path, pid: nil, version: "fuzz")
    do {
        _ = try perf.run()
    } catch {
        return
    }
    do {
        _ = try RecordingReader.load(path: output.path)
    } catch {
        fatalError("a recording that cannot be read: \(error)")
    }
}
