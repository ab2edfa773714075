/// The script for bash. It does not need the package bash-completion, but uses it, if present, to
/// complete the recorded program's arguments.
enum BashCompletion {
    static func render() -> String {
        let first = (Subcommand.allCases.map(\.rawValue) + CompletionScript.general.map(\.word))
            .joined(separator: " ")
        let topics = Subcommand.allCases.map(\.rawValue).joined(separator: " ")
        return """
            \(CompletionScript.note(for: .bash))

            # Replies with those of the words $1 that begin with $current.
            _firstlight_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }

            # Replies with files, $@ being further options of compgen.
            _firstlight_files() {
                mapfile -t COMPREPLY < <(compgen "$@" -- "$current"; compgen -d -- "$current")
                mapfile -t COMPREPLY < <(printf '%s\\n' "${COMPREPLY[@]}" | sort -u)
                [[ -n ${COMPREPLY[0]} ]] || COMPREPLY=()
                compopt -o filenames 2>/dev/null
            }

            _firstlight() {
                local current=${COMP_WORDS[COMP_CWORD]} options valued
                COMPREPLY=()
                if ((COMP_CWORD == 1)); then
                    _firstlight_words '\(first)'
                    return
                fi
                case ${COMP_WORDS[1]} in
                help) ((COMP_CWORD > 2)) || _firstlight_words '\(topics)'; return ;;
            \(Subcommand.allCases.map(options).joined(separator: "\n"))
                *) return ;;
                esac

                # The first operand, and the option whose value is completed. bash makes three words
                # of --option=value.
                local index=2 operand=0 option= literal=
                while ((index < COMP_CWORD)); do
                    local word=${COMP_WORDS[index]}
                    if [[ $word == -- ]]; then
                        ((operand = index + 1))
                        literal=1
                        break
                    elif [[ $word != -* || $word == - ]]; then
                        operand=$index
                        break
                    elif [[ $valued == *" $word "* || ${COMP_WORDS[index + 1]} == '=' ]]; then
                        ((index += 1))
                        if [[ ${COMP_WORDS[index]} == '=' ]]; then ((index += 1)); fi
                        # --option=, with nothing behind
                        if ((index > COMP_CWORD)); then current=; fi
                        if ((index >= COMP_CWORD)); then option=$word; fi
                    fi
                    ((index += 1))
                done

                case "${COMP_WORDS[1]} $option" in
            \(Subcommand.allCases.flatMap(values).joined(separator: "\n"))
                esac
                [[ -z $option ]] || return
                if [[ $current == -* && -z $literal ]] &&
                    { ((!operand)) || [[ ${COMP_WORDS[1]} != @(\(endingOptions)) ]]; }; then
                    _firstlight_words "$options"
                    return
                fi
                case ${COMP_WORDS[1]} in
            \(Subcommand.allCases.compactMap(operand).joined(separator: "\n"))
                esac
            }

            # The recorded program, or its arguments.
            _firstlight_program() {
                local operand=$1
                if ((operand && operand < COMP_CWORD)); then
                    if declare -F _command_offset >/dev/null; then
                        _command_offset "$operand"
                    else
                        _firstlight_files -f
                    fi
                elif [[ $current == */* ]]; then
                    _firstlight_files -f
                else
                    mapfile -t COMPREPLY < <(compgen -c -- "$current" | sort -u)
                fi
            }

            complete -F _firstlight firstlight

            """
    }

    /// The subcommands whose first operand ends our options.
    private static var endingOptions: String {
        Subcommand.allCases.filter(\.endsOptionsAtOperand).map(\.rawValue).joined(separator: "|")
    }

    private static func names(_ option: OptionDeclaration) -> [String] {
        ["--" + option.long] + (option.short.map { ["-\($0)"] } ?? [])
    }

    private static func options(of subcommand: Subcommand) -> String {
        let options = OptionTable.options(of: subcommand)
        let long = options.map { "--" + $0.long }.joined(separator: " ")
        let valued = options.filter(\.kind.takesNextWord).flatMap(names).joined(separator: " ")
        return """
                \(subcommand.rawValue))
                    options='\(long)'
                    valued=' \(valued) '
                    ;;
            """
    }

    private static func values(of subcommand: Subcommand) -> [String] {
        OptionTable.options(of: subcommand).compactMap { option in
            reply(option.candidates).map { reply in
                let cases = names(option).map { "'\(subcommand.rawValue) \($0)'" }
                return "    \(cases.joined(separator: " | "))) \(reply) ;;"
            }
        }
    }

    private static func operand(of subcommand: Subcommand) -> String? {
        reply(subcommand.operandCandidates).map { "    \(subcommand.rawValue)) \($0) ;;" }
    }

    private static func reply(_ candidates: Candidates) -> String? {
        switch candidates {
        case .nothing: nil
        case .words(let words): "_firstlight_words '\(words.joined(separator: " "))'"
        case .files: "_firstlight_files -f"
        case .recordings: "_firstlight_files -f -X '!*.firstlight'"
        case .processes: "_firstlight_words \"$(cd /proc && echo [0-9]*)\""
        case .commandLine: "_firstlight_program \"$operand\""
        }
    }
}
