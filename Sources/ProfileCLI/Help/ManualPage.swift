/// The manual page `firstlight.1` in roff (man(7)), made from the same tables as `--help`.
/// `docs/firstlight.1` is a copy of it, which a test keeps up to date.
package enum ManualPage {
    package static func render() -> String {
        let sections = [
            title, synopsis, description, subcommands, exitStatus, environment, files, examples,
            seeAlso,
        ]
        return sections.joined(separator: "\n") + "\n"
    }

    private static var title: String {
        """
        .\\" Made by 'firstlight --manual-page': edit the tables in Sources/ProfileCLI instead.
        .TH FIRSTLIGHT 1 "" "firstlight \(Version.current)" "User Commands"
        .SH NAME
        firstlight \\- a launch profiler: where the time of a program's launch goes
        """
    }

    private static var synopsis: String {
        let lines = Subcommand.allCases.map { subcommand in
            let operands = subcommand.operands.split(separator: " ").map { word in
                escape(String(word)).replacing("...", with: "\\&...")
            }
            return ".B firstlight \(subcommand.rawValue)\n"
                + (["[\\fIOPTION\\fR]..."] + operands).joined(separator: " ")
        }
        let last = ".B firstlight help\n[\\fISUBCOMMAND\\fR]\n.br\n.B firstlight \\-\\-version"
        return ".SH SYNOPSIS\n" + (lines + [last]).joined(separator: "\n.br\n")
    }

    private static var description: String {
        """
        .SH DESCRIPTION
        Firstlight records the launch of a program: from its start it looks at every thread many
        times a second, takes stacks, and notes how long each thread ran, waited for a core, was
        pushed off it, or waited for something else.
        The report divides that time by phase (process creation, dynamic linking, static
        initialisers, main), thread and code.
        The program need not be changed, and no special rights are needed for one's own programs.
        .PP
        Options may stand before or after a
        .I FILE
        or
        .IR PID ;
        for
        .B record
        they end at the program's name or at
        .BR \\-\\- .
        Of an option that is given twice, the last counts, but for
        .BR \\-\\-until .
        """
    }

    private static var subcommands: String {
        Subcommand.allCases.map { subcommand in
            let details = subcommand.details.map(escape).joined(separator: "\n.PP\n")
            let options = OptionTable.options(of: subcommand).map(entry)
            return ".SH \(subcommand.rawValue.uppercased())\n"
                + ([details] + options).joined(separator: "\n")
        }.joined(separator: "\n")
    }

    private static func entry(_ option: OptionDeclaration) -> String {
        let short = option.short.map { "\\fB\\-\($0)\\fR, " } ?? ""
        let long = "\\fB\\-\\-\(escape(option.long))\\fR"
        let value = option.placeholder.isEmpty ? "" : " \\fI\(escape(option.placeholder))\\fR"
        return ".TP\n\(short)\(long)\(value)\n\(escape(option.help))"
    }

    private static var exitStatus: String {
        """
        .SH EXIT STATUS
        .B record
        ends with the program's own status, or 128+\\fIN\\fR if signal \\fIN\\fR killed it; with 0 if
        the program was stopped because it was ready
        .RB ( \\-\\-until ).
        .TP
        .B 124
        the launch was not over in time
        .RB ( \\-\\-watchdog )
        .TP
        .B 125
        .B record
        or
        .B attach
        failed, or their command line is wrong;
        .B doctor
        found that
        .B record
        cannot work here
        .TP
        .B 126
        the program was found but cannot be run
        .TP
        .B 127
        the program was not found
        .TP
        .B 128+\\fIN\\fR
        signal \\fIN\\fR ended
        .B attach \\-\\-wait
        before the program came: nothing was recorded
        .PP
        The other subcommands end with
        .TP
        .B 0
        success
        .TP
        .B 1
        the recording (of import: what perf wrote) cannot be read, or not all of it, or the output
        not be written
        .TP
        .B 2
        the command line is wrong
        .TP
        .B 141
        nobody reads the output any more (128 + SIGPIPE, as for other programs in a pipeline)
        """
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
        without it, where the folder
        .I firstlight
        is; else in
        .I ~/.cache
        .TP
        .B DEBUGINFOD_URLS
        servers from which debug information that is missing here is fetched when a recording ends
        .TP
        .B DEBUGINFOD_TIMEOUT
        for how many seconds at most; without it, 10
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
        the one before
        .TP
        .I \(escape(RecordOptions.defaultOutput + "-journal"))
        left by a recorder that was killed: the next reader needs it to undo a half write
        .TP
        .I ~/.cache/firstlight
        functions and lines that were found before, by build id; may be deleted at any time
        """
    }

    private static var examples: String {
        let examples = [
            ("Record a launch and read the summary:", "firstlight record ./app --its-option"),
            ("The next start of a service, whoever starts it:", "firstlight attach --wait nginx"),
            (
                "A server's launch, until it accepts connections:",
                "firstlight record --until listen ./server"
            ),
            ("The first two seconds of a server:", "firstlight record --duration 2s ./server"),
            ("Who waited in main, and for what:", "firstlight report --phase main --weight wall"),
            ("A flame graph:", "firstlight fold | flamegraph.pl > launch.svg"),
        ]
        return ".SH EXAMPLES\n"
            + examples.map { ".TP\n\(escape($0.0))\n.B \(escape($0.1))" }.joined(separator: "\n")
    }

    private static var seeAlso: String {
        """
        .SH SEE ALSO
        .BR perf (1),
        .BR strace (1),
        .BR sqlite3 (1),
        .BR ptrace (2)
        """
    }

    /// Backslashes and dashes as such, and no line that roff takes for a request.
    private static func escape(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }
}
