package import Launching
import ProfileModel
import Sampler

/// The meaning of a command line.
package enum Invocation: Sendable {
    /// The help of a subcommand; nil: the overview.
    case help(Subcommand?)
    case version
    /// The source of a subcommand's manual page; nil: of the main one. For `packaging/install`, not
    /// for users.
    case manualPage(Subcommand?)
    /// For users, and `packaging/install`.
    case completions(Shell)
    case run(ParsedArguments)
}

/// A subcommand with its checked options, and its operands.
package struct ParsedArguments: Sendable {
    package var subcommand: Subcommand
    /// If an option is repeated, its last value counts.
    package var options: [OptionName: OptionValue] = [:]
    /// The values of options that may be repeated, in order.
    package var lists: [OptionName: [OptionValue]] = [:]
    package var operands: [String] = []
    /// How many operands came before an option without a value.
    package var operandsBefore: [OptionName: Int] = [:]
    /// For a subcommand that starts a program: the program and its arguments, as given.
    package var program: [CommandWord] = []

    package init(subcommand: Subcommand) { self.subcommand = subcommand }
}

/// Parses command lines. Pure: the same words give the same result.
package struct ArgumentParser {
    private var words: ArraySlice<String>
    private var parsed: ParsedArguments

    /// `words` are the arguments after the program's name.
    package static func parse(_ words: [String]) -> Result<Invocation, UsageError> {
        parse(commandLine: words.map { CommandWord($0) })
    }

    package static func parse(commandLine words: [CommandWord]) -> Result<Invocation, UsageError> {
        do {
            let asked = try invocation(words.map(\.text))
            guard case .run(var arguments) = asked else { return .success(asked) }
            if arguments.subcommand.endsOptionsAtOperand {
                arguments.program = Array(words.suffix(arguments.operands.count))
            }
            return .success(.run(arguments))
        } catch {
            return .failure(error)
        }
    }

    private static func invocation(_ words: [String]) throws(UsageError) -> Invocation {
        guard let first = words.first else {
            throw UsageError(nil, "nothing to do" + UsageError.seeHelp(nil))
        }
        switch first {
        case "--help", "-h": return .help(nil)
        case "--version": return .version
        case "--manual-page": return .manualPage(try helpTopic(words.dropFirst()))
        case "--completions": return .completions(try shell(words.dropFirst()))
        case "help": return .help(try helpTopic(words.dropFirst()))
        default: break
        }
        if let subcommand = Subcommand(rawValue: first) {
            var parser = ArgumentParser(
                words: words.dropFirst(), parsed: ParsedArguments(subcommand: subcommand))
            return try parser.run()
        }
        if first.hasPrefix("-") {
            let suggestion = suggestion(for: first, among: ["--help", "--version"], nil)
            throw UsageError(nil, "unknown option '\(first)'" + suggestion)
        }
        throw unknownSubcommand(first)
    }

    private static func helpTopic(
        _ words: ArraySlice<String>
    ) throws(UsageError) -> Subcommand? {
        guard let topic = words.first(where: { !["--help", "-h", "help"].contains($0) }) else {
            return nil
        }
        guard let subcommand = Subcommand(rawValue: topic) else {
            throw unknownSubcommand(topic)
        }
        return subcommand
    }

    private static func shell(_ words: ArraySlice<String>) throws(UsageError) -> Shell {
        guard let shell = words.first.flatMap(Shell.init) else {
            let names = Shell.allCases.map(\.rawValue)
            throw UsageError(nil, "--completions " + ValueKind.choice(names).expectation)
        }
        return shell
    }

    private static func unknownSubcommand(_ word: String) -> UsageError {
        let names = Subcommand.allCases.map(\.rawValue) + ["help"]
        return UsageError(
            nil, "unknown subcommand '\(word)'" + suggestion(for: word, among: names, nil))
    }

    private static func suggestion(
        for word: String, among candidates: [String], _ subcommand: Subcommand?
    ) -> String {
        guard let nearest = Suggestions.nearest(to: word, among: candidates) else {
            return UsageError.seeHelp(subcommand)
        }
        return "; did you mean '\(nearest)'?"
    }

    // MARK: - A subcommand's words

    private mutating func run() throws(UsageError) -> Invocation {
        while let word = words.popFirst() {
            if word == "--" {
                takeOperands()
            } else if word == "-" || !word.hasPrefix("-") {
                parsed.operands.append(word)
                if parsed.subcommand.endsOptionsAtOperand { takeOperands() }
            } else if word.hasPrefix("--") {
                try takeLong(word)
            } else {
                try takeShort(word)
            }
            if parsed.options[.help] != nil { return .help(parsed.subcommand) }
        }
        try checkOperands()
        return .run(parsed)
    }

    private mutating func takeOperands() {
        parsed.operands += words
        words = []
    }

    /// `--name`, `--name value` or `--name=value`.
    private mutating func takeLong(_ word: String) throws(UsageError) {
        let parts = word.dropFirst(2).split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let long = parts.first.map(String.init) ?? ""
        let attached = parts.count > 1 ? String(parts[1]) : nil
        guard let option = options.first(where: { $0.long == long }) else {
            throw unknownOption("--" + long)
        }
        if option.kind == .none, attached != nil { throw error("--\(long) takes no value") }
        if option.kind.takesNextWord || attached != nil {
            try set(option, as: "--" + long, to: attached ?? words.popFirst())
        } else {
            parsed.options[option.name] = .given
            parsed.operandsBefore[option.name] = parsed.operands.count
        }
    }

    /// `-h`, `-F 500` or `-F500`; switches may be combined.
    private mutating func takeShort(_ word: String) throws(UsageError) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = options.first(where: { $0.short == letter }) else {
                throw unknownOption("-\(letter)")
            }
            guard option.kind.takesNextWord else {
                parsed.options[option.name] = .given
                continue
            }
            let value = letters.isEmpty ? words.popFirst() : String(letters)
            return try set(option, as: "-\(letter)", to: value)
        }
    }

    private var options: [OptionDeclaration] { OptionTable.options(of: parsed.subcommand) }

    private mutating func set(
        _ option: OptionDeclaration, as written: String, to text: String?
    ) throws(UsageError) {
        guard let text else {
            throw error("\(written) needs a value: \(option.placeholder)")
        }
        guard let value = option.kind.value(of: text) else {
            throw error(Self.invalid(option, text))
        }
        parsed.options[option.name] = value
        parsed.lists[option.name, default: []].append(value)
    }

    private static func invalid(_ option: OptionDeclaration, _ text: String) -> String {
        let what = option.long.split(separator: "-").joined(separator: " ")
        guard let words = option.kind.words else {
            let meant = option.kind.completion(of: text)
            return "invalid \(what) '\(text)': it \(option.kind.expectation)"
                + (meant.map { "; did you mean \($0)?" } ?? "")
        }
        let meant = Suggestions.nearest(to: text, among: words)
        return "unknown \(what) '\(text)': it \(option.kind.expectation)"
            + (meant.map { "; did you mean '\($0)'?" } ?? "")
    }

    private func unknownOption(_ written: String) -> UsageError {
        if ["-p", "--pid"].contains(written), [.record, .attach].contains(parsed.subcommand) {
            return error(
                "unknown option '\(written)'; to record a running process: "
                    + "firstlight attach \(words.first.flatMap { Int32($0) }.map(String.init) ?? "PID")"
            )
        }
        // An option of another subcommand is not a misspelling.
        let owners = OptionTable.options.filter {
            "--" + $0.long == written || $0.short.map { "-\($0)" } == written
        }.reduce(into: Set<Subcommand>()) { $0.formUnion($1.subcommands) }
        let names = Subcommand.allCases.filter(owners.contains).map(\.rawValue)
        if let last = names.last {
            let others = names.dropLast().joined(separator: ", ")
            let list = others.isEmpty ? last : others + " and " + last
            return error("unknown option '\(written)'; it belongs to \(list)")
        }
        let candidates = options.flatMap { option in
            // For an option of one letter, only the other case is similar.
            let short = option.short.map { "-\($0)" }
            return written.hasPrefix("--")
                ? ["--" + option.long]
                : short.map { $0.lowercased() == written.lowercased() ? [$0] : [] } ?? []
        }
        return error(
            "unknown option '\(written)'"
                + Self.suggestion(for: written, among: candidates, parsed.subcommand))
    }

    private func checkOperands() throws(UsageError) {
        if parsed.isGiven(.wait) {
            guard parsed.operands.isEmpty else {
                throw error("a process id and --wait do not go together")
            }
            return
        }
        let allowed = parsed.subcommand.operandCount
        let name = parsed.subcommand.operandName
        if parsed.operands.count < allowed.lowerBound {
            let given = parsed.operands.isEmpty ? "no" : "only one"
            throw error("\(given) \(name) given" + UsageError.seeHelp(parsed.subcommand))
        }
        if allowed.upperBound == 0, let operand = parsed.operands.first {
            throw error("takes no operand, but got '\(operand)'")
        }
        if parsed.operands.count > allowed.upperBound {
            let most = allowed.upperBound == 1 ? "one \(name)" : "\(allowed.upperBound) \(name)s"
            throw error("more than \(most): '\(parsed.operands[allowed.upperBound])'")
        }
    }

    private func error(_ message: String) -> UsageError {
        UsageError(parsed.subcommand, message)
    }
}

/// A shell with a completion script made from the option table.
package enum Shell: String, CaseIterable, Sendable {
    case bash, zsh, fish
}

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
