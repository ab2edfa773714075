import Glibc

/// A file for what only reads paths: written anew for each input, in memory where that can be had.
///
/// Unsafe code: bytes are handed to `write` as they came from libFuzzer.
package struct TemporaryFile: Sendable {
    package let path: String

    package init(_ name: String) {
        let folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        path = "\(folder)/firstlight-fuzz-\(name)-\(getpid())"
        Self.paths.append(path)
        atexit {
            for path in TemporaryFile.paths {
                for suffix in ["", ".old", "-journal", ".dwp"] { unlink(path + suffix) }
            }
        }
    }

    /// libFuzzer calls from one thread.
    nonisolated(unsafe) private static var paths: [String] = []

    /// Another name for the file: its own, with this behind it.
    package func link(_ suffix: String) { symlink(path, path + suffix) }

    package func write(_ bytes: UnsafeRawBufferPointer) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { fatalError("cannot write \(path): \(errno)") }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(
                descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            guard count > 0 else { fatalError("cannot write \(path): \(errno)") }
            rest = rest.dropFirst(count)
        }
    }
}

/// A file's bytes; empty when it cannot be read.
package func contents(of path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return [] }
    let size = Int(status.st_size)
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
        count = max(0, read(descriptor, buffer.baseAddress, size))
    }
}
