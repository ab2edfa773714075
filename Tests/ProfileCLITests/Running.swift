import Glibc
import ProfileCLI
import Sampler
import TestSupport
import Testing

@testable import Launching

/// The result of a command line.
struct Run {
    var status: Int32
    var output: String
    var error: String
}

/// Runs the words as `firstlight` would.
func run(_ words: [String]) throws -> Run {
    let output = memfd()
    let error = memfd()
    try #require(output >= 0 && error >= 0)
    let status = CommandLineInterface.run(
        words.map { CommandWord($0) }, Console(output: output, error: error))
    return Run(status: status, output: contents(output), error: contents(error))
}

/// A file without a name.
private func memfd() -> Int32 {
    var path = Array("/tmp/firstlight-test-XXXXXX\0".utf8CString)
    let descriptor = mkstemp(&path)
    unlink(path)
    return descriptor
}

private func contents(_ descriptor: Int32) -> String {
    let size = Int(lseek(descriptor, 0, SEEK_END))
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
        count = max(pread(descriptor, buffer.baseAddress, size, 0), 0)
    }
    close(descriptor)
    return String(decoding: bytes, as: UTF8.self)
}

/// Calls `body` with a path in a folder of its own, which is then removed with its contents.
func withFile(_ body: (String) throws -> Void) throws {
    let scratch = try Scratch()
    try withExtendedLifetime(scratch) { try body(scratch.path("a")) }
}
