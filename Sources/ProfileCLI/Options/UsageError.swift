/// An invalid command line. `description` is one line: the problem, and the remedy.
package struct UsageError: Error, Hashable, CustomStringConvertible {
    package var subcommand: Subcommand?
    package var message: String

    package init(_ subcommand: Subcommand?, _ message: String) {
        self.subcommand = subcommand
        self.message = message
    }

    package var description: String {
        subcommand.map { "\($0.rawValue): \(message)" } ?? message
    }

    package var exitStatus: Int32 { subcommand?.usageStatus ?? 2 }

    /// Where to find help, if there is no better suggestion.
    static func seeHelp(_ subcommand: Subcommand?) -> String {
        subcommand.map { "; see 'firstlight help \($0.rawValue)'" } ?? "; see 'firstlight --help'"
    }
}
