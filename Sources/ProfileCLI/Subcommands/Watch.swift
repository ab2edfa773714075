import Glibc
package import Launching
package import ProfileModel
import Recording
import Sampler
package import Shipping

/// `firstlight watch`.
enum WatchCommand {
    /// Watches until a signal ends it, and returns the exit status.
    static func run(_ options: WatchOptions, _ console: Console) -> Int32 {
        // Before there is any other thread.
        WatchSignals.block()
        let path = options.folder(isRoot: geteuid() == 0) { name in
            getenv(name).map { String(cString: $0) }
        }
        guard let path else {
            console.complain("no folder to keep launches in: neither HOME nor --output is set")
            return 1
        }
        do throws(WatchFolder.Problem) {
            let folder = try WatchFolder(path)
            return run(options, in: folder, console)
        } catch {
            console.complain(error.message)
            return 1
        }
    }

    private static func run(
        _ options: WatchOptions, in folder: WatchFolder, _ console: Console
    ) -> Int32 {
        do throws(RecordingError) {
            // Fail now if launches could not be stored.
            try RecordingFile.checkWritable("\(folder.path)/.watch", for: .measurement)
        } catch {
            console.complain(error.description)
            return 1
        }
        do throws(LaunchWatchError) {
            var run = try WatchRun(options, in: folder, console)
            run.untilEnded()
            return 0
        } catch {
            console.complain(error.description)
            return 1
        }
    }
}

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

/// The options of `watch`.
extension OptionTable {
    static let watching: [OptionDeclaration] = [
        .init(.all, "all", for: [.watch], "watch the launches of all programs"),
        .init(
            .output, "output", short: "o", "DIR", .text, for: [.watch],
            """
            the folder that launches are kept in; a missing folder is made (default: the service's \
            StateDirectory, else /var/lib/firstlight/watch for root, else \
            ~/.local/state/firstlight/watch)
            """),
        .init(
            .keep, "keep", "SIZE", .size, for: [.watch],
            "how large all files together may become before the oldest are deleted (default: 256MB)"
        ),
        .init(
            .profileEvery, "profile-every", "N", .integer(1...1_000_000), for: [.watch],
            """
            record one in N launches of each program with stacks, from its exec on, for 10 s at most, \
            in DIR/recordings; one at a time
            """),
        .init(
            .profileBudget, "profile-budget", "PERCENT", .percent, for: [.watch],
            """
            how much of a core recorders may use on average; launches beyond that are not recorded \
            (default: 1)
            """),
        .init(
            .textFolder, "textfile", "DIR", .text, for: [.watch],
            """
            write figures into DIR/firstlight-watch.prom, which node_exporter's textfile collector \
            reads
            """),
        .init(
            .otlp, "otlp", "URL", .text, for: [.watch],
            "send figures by OpenTelemetry's protocol, as export --otlp does"),
        .init(
            .pushEvery, "push-every", "TIME", .duration, for: [.watch],
            "how often figures are written and sent, if there are new ones (default: 60s)"),
        .init(.quiet, "quiet", for: [.watch], "print no line for each launch that is kept"),
    ]
}
