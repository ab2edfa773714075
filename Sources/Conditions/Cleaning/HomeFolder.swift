import Glibc
package import ProfileModel

/// A home that every launch finds in its initial state: empty, as after a first login, or a copy of
/// another one. Its path is always the same.
package struct HomeFolder {
    private static let condition = "a home of its own"
    private let folder: TemporaryFolder
    /// The folder to copy; nil: the home is empty.
    private let original: String?

    /// - Parameter original: the folder to copy; nil: the home is empty.
    package init(copying original: String?, in parent: String = "/var/tmp") throws(ConditionError) {
        if let original {
            var status = stat()
            guard stat(original, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                throw .badValue(
                    condition: "--home", value: original, expected: "a folder that exists")
            }
        }
        folder = try TemporaryFolder(
            in: parent, prefix: "firstlight-home", condition: Self.condition)
        self.original = original.map { FileText.real($0) ?? $0 }
    }

    package var path: String { "\(folder.path)/home" }

    /// Restores the initial state.
    package func renew() throws(ConditionError) {
        TemporaryFolder.remove(path)
        guard mkdir(path, 0o700) == 0 else {
            throw .failed(condition: Self.condition, step: "making \(path)", code: errno)
        }
        guard let original else { return }
        let command = Command(
            words: ["cp", "-a", "--", "\(original)/.", path], limit: .milliseconds(600_000))
        let result = command.run()
        guard result.hasSucceeded else {
            let reason = result.output.split(separator: "\n").last.map(String.init)
            throw .unsupported(
                condition: "a copy of \(original) as home", missing: reason ?? "cp failed",
                remedy: "free some space, or name a smaller folder")
        }
    }

    /// HOME, and the folders below it that the XDG Base Directory Specification names. XDG_RUNTIME_DIR
    /// stays: sockets of the session are there.
    package var environment: [EnvironmentChange] {
        [
            EnvironmentChange("HOME", path),
            EnvironmentChange("XDG_CONFIG_HOME", "\(path)/.config"),
            EnvironmentChange("XDG_DATA_HOME", "\(path)/.local/share"),
            EnvironmentChange("XDG_STATE_HOME", "\(path)/.local/state"),
            EnvironmentChange("XDG_CACHE_HOME", "\(path)/.cache"),
        ]
    }
}
