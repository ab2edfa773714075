import Glibc
package import ProfileModel

/// A command of the user's that is run around launches (`--before`, `--between`).
package struct Hook: Hashable, Sendable {
    /// For /bin/sh.
    package var command: String
    /// It is killed when it takes longer.
    package var limit: TimeSpan

    package init(command: String, limit: TimeSpan = .milliseconds(600_000)) {
        self.command = command
        self.limit = limit
    }

    /// Runs it with our environment and `changes`, so that it has the program's home, and waits for
    /// its end. What it leaves running is found by the next ``Cleaner/clean(kept:endsDaemons:)``.
    package func run(environment changes: [EnvironmentChange] = []) -> CommandResult {
        let command = Command(
            words: ["/bin/sh", "-c", self.command],
            environment: EnvironmentChange.apply(changes, to: Spawning.environment), limit: limit)
        return command.run()
    }
}
