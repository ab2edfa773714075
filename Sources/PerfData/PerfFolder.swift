import Glibc

/// The output of `perf record --threads`: a folder with the file `data`, which has the header, and
/// with files of records only, one for each of perf's threads (`data.0`, `data.1` …;
/// perf.data-directory-format.txt of the kernel's sources).
struct PerfFolder {
    let main: String
    let others: [String]

    private static let mostFiles = 1024

    /// nil: the path is no such folder.
    init?(_ path: String) {
        func kind(of path: String) -> mode_t? {
            var status = stat()
            return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
        }
        let main = "\(path)/data"
        guard kind(of: path) == S_IFDIR, kind(of: main) == S_IFREG else { return nil }
        self.main = main
        others = (0..<Self.mostFiles).lazy.map { "\(path)/data.\($0)" }
            .prefix { kind(of: $0) == S_IFREG }.map { $0 }
    }
}
