import Glibc

/// `--cold=all`: everything that is cached of any file leaves memory, names and attributes of files
/// included, but for what a process has mapped. It slows the whole machine for a while.
package enum AllCaches {
    private static let path = "/proc/sys/vm/drop_caches"
    private static let condition = "all caches cold (--cold=all)"

    /// That it could be done.
    package static func check() throws(ConditionError) {
        guard access(path, W_OK) == 0 else {
            throw .unsupported(
                condition: condition, missing: "\(path) cannot be written to",
                remedy: "run as root, or use --cold, which needs no privileges")
        }
    }

    /// What was written goes to the disks first.
    package static func drop() throws(ConditionError) {
        sync()
        let problem = FileText.write("3\n", to: path)
        guard problem == 0 else {
            throw .failed(condition: condition, step: "writing to \(path)", code: problem)
        }
    }
}
