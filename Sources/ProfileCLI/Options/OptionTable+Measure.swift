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
            measure a second program in turns with PROGRAM, and show the difference. COMMAND is one \
            word to your shell; it is split at spaces, with quotes and backslashes as in a shell, but \
            no shell is run
            """),
        .init(
            .until, "until", "CONDITION", .text, for: launching,
            "when a launch is over: " + ReadyArgument.help(.measure)),
        .init(
            .watchdog, "watchdog", "TIME", .duration, for: launching,
            """
            a launch that is not over after TIME hangs: it is ended, and does not count (default: 1m \
            if --until names anything but exit, otherwise none)
            """),
        .init(
            .after, "after", "WHAT", .choice(AfterRecording.allCases.map(\.rawValue)),
            for: launching,
            """
            what happens to the program when it is ready (--until): keep it running until it ends by \
            itself, or stop it with SIGTERM, and with SIGKILL after ten seconds (default)
            """),
        .init(
            .warm, "warm", for: launching,
            "leave in the page cache what the previous launch left there (default)"),
        .init(
            .cold, "cold", "all|copies", .optional(["all", "copies"]), for: launching,
            """
            before each launch, remove from the page cache the files that the last one used; a launch \
            that is not proven to be cold does not count. With =copies, the program sees private \
            copies in place of the files, which no other process keeps in the cache (the files \
            stay as they are); with =all, everything is removed (root only)
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
            how much the program may read from disks in a second: 500K, 1M, 1.5MB; reading from the \
            page cache is not slowed
            """),
        .init(
            .clean, "clean", for: launching,
            "also end the daemons that a launch has left behind; without it they are named"),
        .init(
            .before, "before", "COMMAND", .text, for: launching,
            "run COMMAND by /bin/sh before each launch"),
        .init(
            .between, "between", "COMMAND", .text, for: launching,
            "run COMMAND by /bin/sh between two launches"),
        .init(
            .envFile, "env-file", "FILE", .text, for: launching,
            """
            add the variables in FILE to the program's environment: one NAME=VALUE in each line, \
            quoted as in a shell or not; nothing is expanded
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
            record one more launch at the end, with stacks and under the same conditions, and say how \
            far it was from the median; the recording is FILE with .launch.firstlight at its end
            """),
        .init(
            .format, "format", "FORMAT", .choice(CheckFormat.allCases.map(\.rawValue)),
            for: launching, "text (default) or json (for programs)"),
        .init(
            .quiet, "quiet", for: launching, "print no summary at the end, and no progress"),
    ]
}
