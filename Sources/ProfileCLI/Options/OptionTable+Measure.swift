import Sampler

/// The options of `measure`, most of which are `gate`'s, too.
extension OptionTable {
    /// The subcommands that launch programs many times.
    private static let launching: Set<Subcommand> = [.measure, .gate]

    static let measuring: [OptionDeclaration] = [
        .init(
            .launches, "launches", short: "n", "N", .integer(1...MeasureOptions.mostLaunches),
            for: [.measure],
            "how many launches are to count, up to 100000 (default: 10)"),
        .init(
            .against, "against", "COMMAND", .text, for: [.measure],
            """
            measure a second program, too, with which PROGRAM takes turns, and show the difference. \
            COMMAND is one word to the shell; it is split at spaces as a shell would, with quotes and \
            backslashes, but no shell is run
            """),
        .init(
            .until, "until", "CONDITION", .text, for: launching,
            "when a launch is over: " + ReadyArgument.help(.measure)),
        .init(
            .watchdog, "watchdog", "TIME", .duration, for: launching,
            """
            a launch that is not over after TIME hangs: it is ended, and does not count (default: 1m \
            where --until names something else than exit, otherwise none)
            """),
        .init(
            .after, "after", "WHAT", .choice(AfterRecording.allCases.map(\.rawValue)),
            for: launching,
            """
            what becomes of the program when it is ready (--until): keep it running until it ends by \
            itself, or stop it with SIGTERM, and with SIGKILL after ten seconds (default)
            """),
        .init(
            .warm, "warm", for: launching,
            "leave in the page cache whatever the launch before left there (default)"),
        .init(
            .cold, "cold", "all|copies", .optional(["all", "copies"]), for: launching,
            """
            before each launch, remove from the page cache the files that the last one used; a launch \
            that was not cold, by what it read from disk, does not count. With =copies, copies take the \
            files' places, which nobody else keeps there; with =all, everything is removed (root only)
            """),
        .init(
            .network, "network", "NETWORK", .text, for: [.record, .measure, .gate],
            """
            what network the program has: airplane (none at all), none (the same), the name of a \
            slow one (3G, Edge, LTE, DSL, "Very Bad Network" ...), or RATE,DELAY,LOSS
            """),
        .init(
            .disk, "disk", "RATE", .text, for: [.record, .measure, .gate],
            """
            how much the program may read from disks in a second: 500K, 1M, 1.5MB; what is in the \
            page cache comes as fast as ever
            """),
        .init(
            .clean, "clean", for: launching,
            "end the daemons, too, that a launch has left behind; without it they are named"),
        .init(
            .before, "before", "COMMAND", .text, for: launching,
            "run COMMAND by /bin/sh before each launch"),
        .init(
            .between, "between", "COMMAND", .text, for: launching,
            "run COMMAND by /bin/sh between two launches"),
        .init(
            .envFile, "env-file", "FILE", .text, for: launching,
            """
            add the variables of FILE to the program's environment: a NAME=VALUE a line, quoted as \
            in a shell or not; nothing is expanded
            """),
        .init(
            .freshHome, "fresh-home", for: launching,
            """
            give each launch an empty folder as HOME, and others below it as XDG_CONFIG_HOME, \
            XDG_CACHE_HOME and so on: the first launch after installation
            """),
        .init(
            .home, "home", "DIR", .text, for: launching,
            "the same, with a copy of DIR as HOME for each launch"),
        .init(
            .output, "output", short: "o", "FILE", .text, for: [.measure],
            """
            where the measurement goes (default: \(MeasureOptions.defaultOutput)); an older one there \
            is kept as FILE.old
            """),
        .init(
            .versionName, "version-name", "NAME", .text, for: launching,
            "what to call the program's version in the measurement"),
        .init(
            .thenRecord, "then-record", for: [.measure],
            """
            record one launch more at the end, with stacks and under the same conditions, and say how \
            far it was from the median; the recording is FILE with .launch.firstlight at its end
            """),
        .init(
            .format, "format", "FORMAT", .choice(CheckFormat.allCases.map(\.rawValue)),
            for: launching, "text (default) or json (for programs)"),
        .init(
            .quiet, "quiet", for: launching, "print no summary at the end, and no progress"),
    ]
}
