import Glibc
package import Launching
import Sampler

/// Reads the command line, dispatches, exits.
package enum CommandLineInterface {
    /// What the program does, from its beginning to its end.
    package static func main() -> Never {
        // Swift reads the words from /proc, which recording needs for much else, too.
        let words = (0..<Int(CommandLine.argc)).compactMap { number in
            CommandLine.unsafeArgv[number].map { CommandWord(cString: $0) }
        }
        guard !words.isEmpty else {
            Console().complain(
                "the command line cannot be read from /proc: mount it (mount -t proc proc /proc)")
            exit(OwnStatus.failure)
        }
        exit(run(Array(words.dropFirst()), Console()))
    }

    /// Runs the command line, and returns the exit status.
    package static func run(_ words: [CommandWord], _ console: Console) -> Int32 {
        switch ArgumentParser.parse(commandLine: words) {
        case .failure(let error): complain(error, console)
        case .success(.help(let subcommand)):
            Output.print(console.words(HelpText.render(subcommand)), to: console)
        case .success(.version): Output.print(Version.description, to: console)
        case .success(.manualPage(let subcommand)):
            Output.print(ManualPage.render(subcommand), to: console)
        case .success(.completions(let shell)):
            Output.print(CompletionScript.render(shell), to: console)
        case .success(.run(let arguments)): run(arguments, console)
        }
    }

    private static func run(_ arguments: ParsedArguments, _ console: Console) -> Int32 {
        do {
            switch arguments.subcommand {
            case .record, .attach:
                return RecordingRun.run(try RecordOptions(arguments), console)
            case .stop: return StopCommand.run(try StopOptions(arguments), console)
            case .measure: return MeasureCommand.run(try MeasureOptions(arguments), console)
            case .gate: return GateCommand.run(try GateOptions(arguments), console)
            case .watch: return WatchCommand.run(try WatchOptions(arguments), console)
            case .history: return HistoryCommand.run(try HistoryOptions(arguments), console)
            case .import: return ImportCommand.run(ImportOptions(arguments), console)
            case .report: return ReportCommand.run(try ReportOptions(arguments), console)
            case .view: return ViewCommand.run(ViewOptions(arguments), console)
            case .fold: return FoldCommand.run(FoldOptions(arguments), console)
            case .compare: return CompareCommand.run(try CompareRequest(arguments), console)
            case .top: return TopCommand.run(try TopOptions(arguments), console)
            case .export: return ExportCommand.run(try ExportArguments(arguments), console)
            case .ship: return ShipCommand.run(try ShipOptions(arguments), console)
            case .doctor: return DoctorCommand.run(DoctorOptions(arguments), console)
            }
        } catch {
            return complain(error, console)
        }
    }

    private static func complain(_ error: UsageError, _ console: Console) -> Int32 {
        console.complain(error.description)
        return error.exitStatus
    }
}
