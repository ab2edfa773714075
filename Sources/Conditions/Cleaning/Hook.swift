import Glibc
package import ProfileModel

/// A user's command that is run around launches (`--before`, `--between`).
package struct Hook: Hashable, Sendable {
    /// For /bin/sh.
    package var command: String
    /// The command is killed if it takes longer.
    package var limit: TimeSpan

    package init(command: String, limit: TimeSpan = .milliseconds(600_000)) {
        self.command = command
        self.limit = limit
    }

    /// Runs the command with our environment and `changes`, so that it has the program's home, and
    /// waits for its end. The next ``Cleaner/clean(kept:endsDaemons:)`` finds processes that the
    /// command leaves running.
    package func run(environment changes: [EnvironmentChange] = []) -> CommandResult {
        let command = Command(
            words: ["/bin/sh", "-c", self.command],
            environment: EnvironmentChange.apply(changes, to: Spawning.environment), limit: limit)
        return command.run()
    }
}
