/// The script for fish.
enum FishCompletion {
    static func render() -> String {
        let general = CompletionScript.general.filter { !$0.word.hasPrefix("-") }
        let first =
            Subcommand.allCases.map { ($0.rawValue, $0.summary) }
            + general.map { ($0.word, $0.explanation) }
        let options = CompletionScript.general.filter { $0.word.hasPrefix("-") }
        let topics = Subcommand.allCases.map(\.rawValue).joined(separator: " ")
        let lines =
            first.map { "complete -c firstlight -n __firstlight_begins -a \($0) -d \(quote($1))" }
            + options.map {
                "complete -c firstlight -n __firstlight_begins -l \($0.word.dropFirst(2)) "
                    + "-d \(quote($0.explanation))"
            }
            + ["complete -c firstlight -n '__firstlight_in help' -a '\(topics)'"]
            + Subcommand.allCases.flatMap(of)
        return """
            \(CompletionScript.note(for: .fish))

            function __firstlight_begins
                test (count (commandline -opc)) -eq 1
            end

            # Whether options of this subcommand may stand here.
            function __firstlight_in -a subcommand
                set -l words (commandline -opc)
                test "$words[2]" = $subcommand
                and test -z "$(__firstlight_program_place)"
            end

            function __firstlight_takes_program
                set -l words (commandline -opc)
                contains -- "$words[2]" \(endingOptions)
            end

            # Where the recorded program's name stands, once it is complete.
            function __firstlight_program_place
                set -l words (commandline -opc)
                __firstlight_takes_program; or return
                set -l index 3
                while test $index -le (count $words)
                    switch $words[$index]
                        case --
                            echo (math $index + 1)
                            return
                        case \(valued)
                            set index (math $index + 1)
                        case '-*'
                        case '*'
                            echo $index
                            return
                    end
                    set index (math $index + 1)
                end
            end

            # The recorded program, or its arguments, as if they stood alone.
            function __firstlight_program
                set -l words (commandline -opc)
                set -l place (__firstlight_program_place)
                set -l current (commandline -ct)
                if test -n "$place"; and test $place -le (count $words)
                    set -l before (string escape -- $words[$place..-1] | string join ' ')
                    complete --do-complete="$before $current"
                else if not string match -q -- '-*' "$current"
                    complete --do-complete="$current"
                end
            end

            complete -c firstlight -f
            \(lines.joined(separator: "\n"))

            """
    }

    private static var endingOptions: String {
        Subcommand.allCases.filter(\.endsOptionsAtOperand).map(\.rawValue).joined(separator: " ")
    }

    /// The options whose value is the next word, of all subcommands that start a program: none of
    /// these options is a switch in another subcommand.
    private static var valued: String {
        var words: [String] = []
        for subcommand in Subcommand.allCases where subcommand.endsOptionsAtOperand {
            for option in OptionTable.options(of: subcommand) where option.kind.takesNextWord {
                let names = ["--" + option.long] + (option.short.map { ["-\($0)"] } ?? [])
                words += names.filter { !words.contains($0) }
            }
        }
        return words.joined(separator: " ")
    }

    private static func of(_ subcommand: Subcommand) -> [String] {
        let within = "complete -c firstlight -n '__firstlight_in \(subcommand.rawValue)'"
        let options = OptionTable.options(of: subcommand).map { option in
            let short = option.short.map { " -s \($0)" } ?? ""
            let value = option.kind.takesNextWord ? value(option.candidates) : ""
            return "\(within) -l \(option.long)\(short)\(value) -d \(quote(option.brief))"
        }
        return options + operand(of: subcommand, within)
    }

    private static func value(_ candidates: Candidates) -> String {
        switch candidates {
        case .words(let words): " -x -a \(quote(words.joined(separator: " ")))"
        case .files: " -r -F"
        default: " -x"
        }
    }

    private static func operand(of subcommand: Subcommand, _ within: String) -> [String] {
        switch subcommand.operandCandidates {
        case .nothing, .words: []
        case .files: ["\(within) -F"]
        case .recordings: ["\(within) -k -a '(__fish_complete_suffix .firstlight)'"]
        case .processes: ["\(within) -a '(__fish_complete_pids)'"]
        case .commandLine:
            [
                "complete -c firstlight -n __firstlight_takes_program "
                    + "-a '(__firstlight_program)'"
            ]
        }
    }

    private static func quote(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}
