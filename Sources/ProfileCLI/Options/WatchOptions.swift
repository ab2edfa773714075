package import Launching
package import ProfileModel
import Sampler
package import Shipping

/// The options of `watch`.
package struct WatchOptions: Sendable {
    package var names: WatchedNames
    /// nil: the default folder.
    package var output: String?
    /// The limit for all files together, in bytes.
    package var keep: Int64
    /// One of this many launches of a program is recorded; nil: none.
    package var profileEvery: Int?
    /// In percent of a core.
    package var profileBudget: Double
    /// The folder of node_exporter's collector.
    package var textFolder: String?
    package var server: WebAddress?
    package var pushEvery: TimeSpan
    /// True to report each launch that is stored.
    package var tellsLaunches: Bool

    static let defaultKeep: Int64 = 256_000_000

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        names = try Self.names(arguments)
        output = arguments.text(.output)
        keep = arguments.integer(.keep).map { Int64($0) } ?? Self.defaultKeep
        profileEvery = arguments.integer(.profileEvery)
        profileBudget = arguments.percent(.profileBudget) ?? 1
        textFolder = arguments.text(.textFolder)
        server = try arguments.text(.otlp).map { text throws(UsageError) in
            try ExportArguments.server(text, of: .watch)
        }
        pushEvery = arguments.duration(.pushEvery) ?? .milliseconds(60_000)
        tellsLaunches = !arguments.isGiven(.quiet)
        // An option without effect is an error.
        if arguments.isGiven(.profileBudget), profileEvery == nil {
            throw UsageError(.watch, "--profile-budget needs --profile-every")
        }
        if arguments.isGiven(.pushEvery), textFolder == nil, server == nil {
            throw UsageError(.watch, "--push-every needs --textfile or --otlp")
        }
    }

    private static func names(_ arguments: ParsedArguments) throws(UsageError) -> WatchedNames {
        if arguments.isGiven(.all) {
            if let operand = arguments.operands.first {
                throw UsageError(.watch, "'\(operand)' does not go with --all: give one of them")
            }
            return .all
        }
        var names: [ProgramName] = []
        for operand in arguments.operands {
            guard let name = ProgramName(operand) else {
                throw UsageError(
                    .watch,
                    "'\(operand)' is no program's name: it must have no folder (app, not /opt/app)")
            }
            names.append(name)
        }
        guard !names.isEmpty else {
            throw UsageError(
                .watch, "no program given: name some, or --all" + UsageError.seeHelp(.watch))
        }
        return .programs(names)
    }

    // MARK: The folder

    /// Where launches are stored; nil: nowhere, because no variable names a place.
    ///
    /// - Parameter environment: gives a variable's value; nil: it is not set.
    package func folder(isRoot: Bool, environment: (String) -> String?) -> String? {
        if let output { return output }
        func path(_ name: String) -> String? {
            environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        // A service may have several folders.
        let service = path("STATE_DIRECTORY")?.split(separator: ":").first.map { String($0) }
        if let service { return service }
        if isRoot { return "/var/lib/firstlight/watch" }
        let state = path("XDG_STATE_HOME") ?? path("HOME").map { "\($0)/.local/state" }
        return state.map { "\($0)/firstlight/watch" }
    }
}
