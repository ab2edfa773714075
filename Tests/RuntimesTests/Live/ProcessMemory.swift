import CSystem
import Glibc
import Runtimes

/// The memory of another process.
struct ProcessMemory: RuntimeMemory {
    let pid: Int32

    func bytes(at address: UInt64, count: Int) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        return fl_read_memory(pid, address, &buffer, count) == count ? buffer : nil
    }
}

/// A file's content, also of files of the kernel that do not tell their size.
func content(of path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var (all, piece) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
    while true {
        let got = read(descriptor, &piece, piece.count)
        guard got > 0 else { return all }
        all += piece[..<got]
    }
}

func lines(of path: String) -> [Substring] {
    String(decoding: content(of: path), as: UTF8.self).split(separator: "\n")
}
