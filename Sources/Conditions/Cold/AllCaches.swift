import Glibc

/// `--cold=all`: all cached data of files leave memory, including names and attributes of files,
/// except pages that processes have mapped. This slows the whole machine for a while.
package enum AllCaches {
    private static let path = "/proc/sys/vm/drop_caches"
    private static let condition = "all caches cold (--cold=all)"

    /// Throws if this is not possible here.
    package static func check() throws(ConditionError) {
        guard access(path, W_OK) == 0 else {
            throw .unsupported(
                condition: condition, missing: "\(path) cannot be written to",
                remedy: "run as root, or use --cold, which needs no privileges")
        }
    }

    /// First writes changed data to the disks.
    package static func drop() throws(ConditionError) {
        sync()
        let problem = FileText.write("3\n", to: path)
        guard problem == 0 else {
            throw .failed(condition: condition, step: "writing to \(path)", code: problem)
        }
    }
}
