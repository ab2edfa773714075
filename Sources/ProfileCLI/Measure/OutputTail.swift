import CSystem
import Glibc

/// The end of a launched program's output: enough to find the cause of a failure.
///
/// The output goes to memory, as to a file, so no process must wake up to empty a pipe. /dev/null
/// is not used, because programs that detect it do less than usual.
struct OutputTail: ~Copyable {
    /// How much is kept, in bytes.
    static let length = 4096

    /// For the program's standard output and error.
    let descriptor: Int32

    /// nil: no memory, or no descriptor is left.
    init?() {
        descriptor = fl_memory_file("firstlight-output")
        guard descriptor >= 0 else { return nil }
        // Two descriptors share the file, so each write must go to its end.
        _ = fcntl(descriptor, F_SETFL, O_APPEND)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Returns the end of the output since the last call, and discards that output.
    func take() -> String {
        defer { ftruncate(descriptor, 0) }
        let size = lseek(descriptor, 0, SEEK_END)
        guard size > 0 else { return "" }
        let start = max(0, size - Self.length)
        var bytes = [UInt8](repeating: 0, count: Self.length)
        let count = pread(descriptor, &bytes, bytes.count, start)
        guard count > 0 else { return "" }
        // Skips the rest of a multi-byte character.
        let text = bytes.prefix(count).drop { start > 0 && $0 & 0xC0 == 0x80 }
        return String(decoding: text, as: UTF8.self)
    }
}
