import Glibc
import ProcessIO

/// Where a process's output goes.
enum OutputPlace {
    /// The device number of the terminal at `descriptor`; nil: it is no character device.
    static func device(of descriptor: Int32) -> dev_t? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else {
            return nil
        }
        return status.st_rdev
    }

    /// True if the process's standard output or error may be this terminal, or if we cannot know.
    static func mayBe(_ terminal: dev_t, of pid: Int32) -> Bool {
        [STDOUT_FILENO, STDERR_FILENO].contains { number in
            var status = stat()
            guard stat("/proc/\(pid)/fd/\(number)", &status) == 0 else {
                // A closed stream leads nowhere. A process that we may not look at, or that has
                // closed its files because it ends, may have written to the terminal.
                return errno != ENOENT || access("/proc/\(pid)/fd", X_OK) != 0
                    || KernelProcess(pid: pid).isEnding
            }
            guard status.st_mode & S_IFMT == S_IFCHR else { return false }
            return [status.st_rdev, terminal].contains(own) || status.st_rdev == terminal
        }
    }

    /// `/dev/tty`, which is a different terminal for each process: major number 5, minor number 0.
    private static let own: dev_t = 5 << 8
}
