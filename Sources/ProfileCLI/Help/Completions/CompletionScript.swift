/// The scripts with which shells complete our command lines, made from the tables of subcommands
/// and options. `make install` puts them where each shell looks.
package enum CompletionScript {
    /// Ends in a line break.
    package static func render(_ shell: Shell) -> String {
        switch shell {
        case .bash: BashCompletion.render()
        case .zsh: ZshCompletion.render()
        case .fish: FishCompletion.render()
        }
    }

    /// Possible first words besides subcommands.
    static let general = [
        (word: "help", explanation: "print a subcommand's options"),
        (word: "--help", explanation: "print help"),
        (word: "--version", explanation: "print the version, commit and schema versions"),
    ]

    static func note(for shell: Shell) -> String {
        "# Made by 'firstlight --completions \(shell.rawValue)' from the tables in "
            + "Sources/ProfileCLI."
    }
}

/// The suggestions for a value or an operand.
enum Candidates: Hashable {
    case nothing
    case words([String])
    case files
    /// Files that end in `.firstlight`.
    case recordings
    case processes
    /// A program, and then its own arguments.
    case commandLine
}

extension OptionDeclaration {
    var candidates: Candidates {
        if let words = kind.words { return .words(words) }
        return switch name {
        case .output, .envFile, .home, .baseline, .junit, .resolved, .add, .to: .files
        case .until:
            .words(ReadyArgument.beginnings(subcommands.contains(.measure) ? .measure : .record))
        default: .nothing
        }
    }

    /// The first words of the help, for a list with one line per option.
    var brief: String {
        let ends = ["; ", ": ", ", ", ". ", " ("].compactMap { help.firstRange(of: $0)?.lowerBound }
        let words = String(help[..<(ends.min() ?? help.endIndex)])
        // Some help texts explain each value in turn, and so begin with a value.
        if let values = kind.words, values.contains(words) { return long }
        return words
    }
}

extension Subcommand {
    var operandCandidates: Candidates {
        switch self {
        case .record, .measure, .gate: .commandLine
        case .attach, .stop: .processes
        case .import, .history, .ship: .files
        case .report, .compare, .top, .view, .fold, .export: .recordings
        case .watch, .doctor: .nothing
        }
    }
}
