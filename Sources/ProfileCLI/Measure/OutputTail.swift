import CSystem
import Glibc

/// What a launched program writes, of which the end is kept: enough to say what went wrong.
///
/// It goes to memory, as to a file: nobody must wake up to empty a pipe, and a program that finds out
/// that it writes to /dev/null does less than it would.
struct OutputTail: ~Copyable {
    /// How much is kept, in bytes.
    static let length = 4096

    /// For the program's standard output and error.
    let descriptor: Int32

    /// nil: there is no memory, or no descriptor left.
    init?() {
        descriptor = fl_memory_file("firstlight-output")
        guard descriptor >= 0 else { return nil }
        // Two descriptors share one file: each write goes to its end.
        _ = fcntl(descriptor, F_SETFL, O_APPEND)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The last of what was written since the last call, and forgets it.
    func take() -> String {
        defer { ftruncate(descriptor, 0) }
        let size = lseek(descriptor, 0, SEEK_END)
        guard size > 0 else { return "" }
        let start = max(0, size - Self.length)
        var bytes = [UInt8](repeating: 0, count: Self.length)
        let count = pread(descriptor, &bytes, bytes.count, start)
        guard count > 0 else { return "" }
        // Not the rest of a character of several bytes.
        let text = bytes.prefix(count).drop { start > 0 && $0 & 0xC0 == 0x80 }
        return String(decoding: text, as: UTF8.self)
    }
}
