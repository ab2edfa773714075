package import Agent
import Architecture
import CSystem
import Glibc

/// The entry code of programs that were launched before. A program that is not in memory must read
/// its code from the disk itself. If we read it at the stop, the launch would lack this time.
///
/// Used by one thread at a time.
package final class EntryCodes: @unchecked Sendable {
    private struct File: Hashable {
        var device: UInt
        var inode: UInt
        var size: Int
        var seconds: Int
        var nanoseconds: Int
    }

    private var known: [File: [UInt8]] = [:]
    /// Each wrapper in a chain has its own entry.
    private static let most = 64

    /// - Parameter start: the program that process `pid` is about to run.
    package func code(of start: ImageStart, pid: Int32) -> [UInt8]? {
        var status = stat()
        guard stat("/proc/\(pid)/exe", &status) == 0 else { return nil }
        let file = File(
            device: UInt(status.st_dev), inode: UInt(status.st_ino), size: Int(status.st_size),
            seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
        if let code = known[file] { return code }
        let code = start.entryCode
        guard code.count == StartCode.length, known.count < Self.most else { return nil }
        known[file] = code
        return code
    }
}
