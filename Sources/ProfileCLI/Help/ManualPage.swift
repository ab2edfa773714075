/// The manual pages `firstlight.1`, `firstlight-record.1` … in roff (man(7)), made from the same
/// tables as `--help`. `packaging/install` writes them.
package enum ManualPage {
    /// - Parameter subcommand: nil: the main page.
    package static func render(_ subcommand: Subcommand? = nil) -> String {
        let sections = subcommand.map(of) ?? overview
        return sections.joined(separator: "\n") + "\n"
    }

    private static var overview: [String] {
        [
            title(nil, "a launch profiler: where the time of a program's launch goes"), synopsis,
            description, subcommands, exitStatus(of: nil), environment, files, examples(of: nil),
            seeAlso(nil),
        ]
    }

    private static func of(_ subcommand: Subcommand) -> [String] {
        let details = subcommand.details.map(escape).joined(separator: "\n.PP\n")
        let options = OptionTable.options(of: subcommand).map(entry)
        return [
            title(subcommand, escape(subcommand.summary)),
            ".SH SYNOPSIS\n" + usages(subcommand),
            ".SH DESCRIPTION\n" + details,
            ".SH OPTIONS\n" + options.joined(separator: "\n"),
            exitStatus(of: subcommand), examples(of: subcommand), seeAlso(subcommand),
        ]
    }

    private static func title(_ subcommand: Subcommand?, _ summary: String) -> String {
        let name = "firstlight" + (subcommand.map { "-\($0.rawValue)" } ?? "")
        return """
            .\\" Made by 'firstlight --manual-page': edit the tables in Sources/ProfileCLI instead.
            .TH \(escape(name.uppercased())) 1 \(Version.date) "firstlight \(Version.current)" \
            "User Commands"
            .SH NAME
            \(escape(name)) \\- \(summary)
            """
    }

    private static func usages(_ subcommand: Subcommand) -> String {
        subcommand.operands.map { operands in
            let words = operands.split(separator: " ").map { word in
                escape(String(word)).replacing("...", with: "\\&...")
            }
            return ".B firstlight \(subcommand.rawValue)\n"
                + (["[\\fIOPTION\\fR]..."] + words).joined(separator: " ")
        }.joined(separator: "\n.br\n")
    }

    private static var synopsis: String {
        let last = ".B firstlight help\n[\\fISUBCOMMAND\\fR]\n.br\n.B firstlight \\-\\-version"
        return ".SH SYNOPSIS\n"
            + (Subcommand.allCases.map(usages) + [last]).joined(separator: "\n.br\n")
    }

    private static var description: String {
        """
        .SH DESCRIPTION
        Firstlight records the launch of a program: from its start it looks at every
        thread many times a second, takes stacks, and notes how long each thread ran,
        waited for a core, was pushed off it, or waited for something else.
        The report divides that time by phase (process creation, dynamic linking, static
        initialisers, main), thread and code.
        You need not change the program, and recording your own programs needs no
        special rights.
        .PP
        Options may stand before or after a
        .I FILE
        or
        .IR PID ;
        for
        .BR record ,
        .B measure
        and
        .B gate
        they end at the program's name or at
        .BR \\-\\- .
        If an option is given twice, the last one counts, except for
        .BR \\-\\-until ,
        .BR \\-\\-mark ,
        .B \\-\\-resolve
        and
        .BR \\-\\-add .
        """
    }

    private static var subcommands: String {
        ".SH SUBCOMMANDS\n"
            + Subcommand.allCases.map { subcommand in
                ".TP\n.BR firstlight\\-\(subcommand.rawValue) (1)\n\(escape(subcommand.summary))"
            }.joined(separator: "\n")
    }

    private static func entry(_ option: OptionDeclaration) -> String {
        let short = option.short.map { "\\fB\\-\($0)\\fR, " } ?? ""
        let long = "\\fB\\-\\-\(escape(option.long))\\fR"
        let placeholder = "\\fI\(escape(option.placeholder))\\fR"
        let value =
            switch option.kind {
            case .none: ""
            case .optional: "[=\(placeholder)]"
            default: " " + placeholder
            }
        return ".TP\n\(short)\(long)\(value)\n\(escape(option.help))"
    }

    /// - Parameter subcommand: nil: for all, with their names.
    private static func exitStatus(of subcommand: Subcommand?) -> String {
        let rows = ExitStatus.all.filter { row in
            subcommand.map(row.subcommands.contains) ?? true
        }
        return ".SH EXIT STATUS\n"
            + rows.map { row in
                let owners = Subcommand.allCases.filter(row.subcommands.contains)
                let names = owners.map(\.rawValue).joined(separator: ", ")
                let prefix = subcommand == nil ? "\\fI\(names)\\fR: " : ""
                return ".TP\n.B \(escape(row.status))\n"
                    + HelpText.wrap(prefix + row.meaning, width: 78).joined(separator: "\n")
            }.joined(separator: "\n")
    }

    private static var environment: String {
        """
        .SH ENVIRONMENT
        .TP
        .B NO_COLOR
        if set and not empty: no colours; without it, terminals get them
        .TP
        .B TERM
        .B dumb
        means no colours
        .TP
        .B COLUMNS
        the width of reports; without it the terminal's, or \(Terminal.defaultWidth)
        .TP
        .B FIRSTLIGHT_CACHE
        the folder of the symbol cache; empty for none
        .TP
        .B XDG_CACHE_HOME
        if FIRSTLIGHT_CACHE is not set: the folder in which the folder
        .I firstlight
        is; without either variable, that is
        .I ~/.cache
        .TP
        .B DEBUGINFOD_URLS
        servers from which missing debug information is fetched when a recording ends
        .TP
        .B DEBUGINFOD_TIMEOUT
        how many seconds fetching may take in all (default: 10)
        """
    }

    private static var files: String {
        """
        .SH FILES
        .TP
        .I \(escape(RecordOptions.defaultOutput))
        the recording, an SQLite database that only its owner may read
        .TP
        .I \(escape(RecordOptions.defaultOutput + ".old"))
        the previous recording
        .TP
        .I \(escape(RecordOptions.defaultOutput + "-journal"))
        left by a recorder that was killed: the next reader needs it to undo a half
        write
        .TP
        .I ~/.cache/firstlight
        functions and lines that were found earlier, by build id; may be deleted at
        any time
        """
    }

    private static func examples(of subcommand: Subcommand?) -> String {
        let examples = Example.all.filter { $0.subcommand == subcommand || subcommand == nil }
        return ".SH EXAMPLES\n"
            + examples.map { ".TP\n\(escape($0.purpose))\n.B \(escape($0.command))" }
            .joined(separator: "\n")
    }

    private static func seeAlso(_ subcommand: Subcommand?) -> String {
        let pages = Subcommand.allCases.map { ("firstlight-" + $0.rawValue, 1) }
        let others = [("perf", 1), ("strace", 1), ("sqlite3", 1), ("ptrace", 2)]
        let wanted =
            subcommand == nil
            ? pages + others
            : [("firstlight", 1)]
                + pages.filter { $0.0 != "firstlight-\(subcommand?.rawValue ?? "")" }
        return ".SH SEE ALSO\n"
            + wanted.map { ".BR \(escape($0.0)) (\($0.1))" }.joined(separator: ",\n")
    }

    /// Escapes backslashes and dashes, and lines that roff would take for requests.
    private static func escape(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return HelpText.wrap(escaped, width: 78).map { line in
            line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
        }.joined(separator: "\n")
    }
}
