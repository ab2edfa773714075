import CSystem
import Glibc

/// What can be known of a process that is not traced: what ptrace would report, seen from outside.
struct UntracedProcess: ~Copyable {
    /// Reads nothing any more once the address space that it was opened for is gone.
    private let memory: ProcFile?
    private let probe: UInt64
    private let folder: Int32
    private var links: UInt = 0
    private var ticks = 0
    /// The folder's count of links is cheap, but cannot tell one thread that came and went from
    /// none: it is listed now and then in any case.
    private static let ticksBetweenLists = 16

    /// - Parameter probe: an address that can be read as long as the program's image lives.
    init(pid: Int32, probe: UInt64) {
        self.probe = probe
        memory = ProcFile("/proc/\(pid)/mem")
        folder = open("/proc/\(pid)/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }

    deinit {
        if folder >= 0 { close(folder) }
    }

    /// Whether another program took this one's place (or it ended).
    mutating func hasLostImage() -> Bool {
        looks += 1
        // Who executes another program tells us, but for raw system calls.
        guard looks % Self.looksBetweenReads == 0 else { return false }
        return memory?.canRead(at: probe) == false
    }

    private static let looksBetweenReads = 4
    private var looks = 0

    /// Whether threads came or went: their folder has a link for each.
    mutating func hasOtherThreads() -> Bool {
        var status = stat()
        guard folder >= 0, fstat(folder, &status) == 0 else { return false }
        ticks += 1
        defer { links = UInt(status.st_nlink) }
        return UInt(status.st_nlink) != links || ticks % Self.ticksBetweenLists == 0
    }
}
