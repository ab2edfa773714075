/// The script for zsh, by its own `_arguments`.
enum ZshCompletion {
    static func render() -> String {
        let general = CompletionScript.general.map { "'\($0.word):\(escape($0.explanation))'" }
        let subcommands = Subcommand.allCases.map { "'\($0.rawValue):\(escape($0.summary))'" }
        let topics = Subcommand.allCases.map(\.rawValue).joined(separator: " ")
        return """
            #compdef firstlight
            \(CompletionScript.note(for: .zsh))

            _firstlight() {
                local -a subcommands
                subcommands=(
                    \((subcommands + general).joined(separator: "\n        "))
                )
                if ((CURRENT == 2)); then
                    _describe -t commands subcommand subcommands
                    return
                fi
                local subcommand=$words[2]
                shift words
                ((CURRENT--))
                case $subcommand in
                help) _arguments ':subcommand:(\(topics))' ;;
            \(Subcommand.allCases.map(arguments).joined(separator: "\n"))
                esac
            }

            _firstlight "$@"

            """
    }

    private static func arguments(of subcommand: Subcommand) -> String {
        let options = OptionTable.options(of: subcommand).map(specification)
        let lines = (["-s"] + options + operand(of: subcommand)).joined(
            separator: " \\\n            ")
        return """
                \(subcommand.rawValue))
                    _arguments \(lines)
                    ;;
            """
    }

    /// `'(-o --output)'{-o+,--output=}'[where the recording goes]:FILE:_files'`
    private static func specification(_ option: OptionDeclaration) -> String {
        let takesValue = option.kind != .none
        let isOptional = takesValue && !option.kind.takesNextWord
        let long = "--" + option.long + (isOptional ? "=-" : takesValue ? "=" : "")
        let colons = isOptional ? "::" : ":"
        let value =
            takesValue
            ? "\(colons)\(escape(option.placeholder)):\(action(option.candidates))" : ""
        let text = "'[\(escape(option.brief))]\(value)'"
        let repeated = option.mayRepeat ? "\\*" : ""
        guard let short = option.short else { return repeated + long + text }
        let names = "{-\(short)\(takesValue ? "+" : ""),\(long)}"
        return "'(-\(short) --\(option.long))'\(names)\(text)"
    }

    private static func operand(of subcommand: Subcommand) -> [String] {
        switch subcommand.operandCandidates {
        case .nothing: []
        case .commandLine: ["'(-)1:program:_command_names -e'", "'*::argument:_normal'"]
        case let candidates where subcommand.operandCount.upperBound == .max:
            ["'*:\(subcommand.operandName):\(action(candidates))'"]
        case let candidates:
            (1...max(1, subcommand.operandCount.upperBound)).map { place in
                "'\(place):\(subcommand.operandName):\(action(candidates))'"
            }
        }
    }

    private static func action(_ candidates: Candidates) -> String {
        switch candidates {
        case .nothing, .commandLine: ""
        case .words(let words): "(\(words.map(escape).joined(separator: " ")))"
        case .files: "_files"
        case .recordings: "_files -g \"*.firstlight\""
        case .processes: "_pids"
        }
    }

    private static func escape(_ text: String) -> String {
        var result = ""
        for character in text {
            if "\\:[]".contains(character) { result.append("\\") }
            result += character == "'" ? "'\\''" : String(character)
        }
        return result
    }
}
