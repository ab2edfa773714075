/// The meaning of an exit status, for the manual pages.
struct ExitStatus {
    var status: String
    var subcommands: Set<Subcommand>
    /// In roff.
    var meaning: String

    private static let recording: Set<Subcommand> = [.record, .attach]
    private static let others = Set(Subcommand.allCases).subtracting(recording)
        .subtracting([.measure, .gate])

    /// In the order of the manual page.
    static let all = [
        ExitStatus(
            status: "the program's own", subcommands: [.record],
            meaning: "it exited with this status; 128+\\fIN\\fR: signal \\fIN\\fR killed it"),
        ExitStatus(
            status: "0", subcommands: [.record],
            meaning: "the program was stopped because it was ready (\\fB\\-\\-until\\fR)"),
        ExitStatus(status: "0", subcommands: [.attach], meaning: "the recording is complete"),
        ExitStatus(
            status: "124", subcommands: recording,
            meaning: "the launch was not over in time (\\fB\\-\\-watchdog\\fR)"),
        ExitStatus(
            status: "125", subcommands: recording,
            meaning: "it failed, or the command line is wrong"
        ),
        ExitStatus(
            status: "126", subcommands: [.record],
            meaning: "the program was found but cannot be run"),
        ExitStatus(status: "127", subcommands: [.record], meaning: "the program was not found"),
        ExitStatus(
            status: "128+N", subcommands: [.attach],
            meaning:
                "signal \\fIN\\fR ended \\fB\\-\\-wait\\fR before the program started: nothing was "
                + "recorded"),
        ExitStatus(
            status: "0", subcommands: [.measure],
            meaning: "as many launches count as were asked for"),
        ExitStatus(
            status: "1", subcommands: [.measure],
            meaning: "measuring was given up: too many launches did not count, or a command of "
                + "\\fB\\-\\-before\\fR or \\fB\\-\\-between\\fR failed; what was measured is shown"
        ),
        ExitStatus(
            status: "125", subcommands: [.measure],
            meaning:
                "it failed (a condition is not possible, the disk is full), or the command line is "
                + "wrong"),
        ExitStatus(
            status: "126", subcommands: [.measure],
            meaning: "a program was found but cannot be run"),
        ExitStatus(
            status: "127", subcommands: [.measure], meaning: "a program was not found"),
        ExitStatus(
            status: "128+N", subcommands: [.measure],
            meaning: "signal \\fIN\\fR ended it (130: Ctrl\\-C); what was measured is shown"),
        ExitStatus(
            status: "0", subcommands: [.gate],
            meaning: "the program's launch is not slower by more than is allowed"),
        ExitStatus(
            status: "1", subcommands: [.gate],
            meaning: "a regression: it is slower by more than is allowed"),
        ExitStatus(
            status: "3", subcommands: [.gate],
            meaning:
                "inconclusive: the launches that were made, or the stored figures, are not enough "
                + "to decide"),
        ExitStatus(
            status: "125", subcommands: [.gate],
            meaning:
                "it failed (too many launches did not count, a condition is not possible, a file "
                + "cannot be read or written), or the command line is wrong"),
        ExitStatus(
            status: "126", subcommands: [.gate],
            meaning: "a program was found but cannot be run"),
        ExitStatus(status: "127", subcommands: [.gate], meaning: "a program was not found"),
        ExitStatus(
            status: "128+N", subcommands: [.gate],
            meaning: "signal \\fIN\\fR ended it (130: Ctrl\\-C); there is no answer"),
        ExitStatus(
            status: "0", subcommands: others.subtracting([.doctor]), meaning: "success"),
        ExitStatus(status: "0", subcommands: [.doctor], meaning: "record works here"),
        ExitStatus(
            status: "1", subcommands: [.stop],
            meaning: "there is no such recorder, or this user may not end its recording"),
        ExitStatus(
            status: "1", subcommands: [.import],
            meaning:
                "perf's file cannot be read completely, or the output cannot be written"
        ),
        ExitStatus(
            status: "1", subcommands: [.report, .compare, .fold],
            meaning: "a recording cannot be read, or the output cannot be written"),
        ExitStatus(
            status: "1", subcommands: [.export],
            meaning:
                "a file cannot be read (the figures of the others were written), the output cannot be "
                + "written, or what \\fB\\-\\-otlp\\fR sends was refused, or is kept for the next time"
        ),
        ExitStatus(
            status: "1", subcommands: [.watch],
            meaning:
                "launches cannot be seen here, or the folder belongs to another watch, or files cannot "
                + "be written there"),
        ExitStatus(
            status: "1", subcommands: [.history],
            meaning:
                "a file is not a measurement, or cannot be read (the rest was shown, or added), or the "
                + "output cannot be written"),
        ExitStatus(
            status: "1", subcommands: [.top],
            meaning:
                "a recording cannot be read (the others were shown), none is a recording of a "
                + "launch, the list of \\fB\\-\\-resolved\\fR cannot be read, or the output "
                + "cannot be written"),
        ExitStatus(
            status: "1", subcommands: [.ship],
            meaning:
                "a file cannot be read (the others were shipped), or the server cannot be reached, or "
                + "refuses: ship again what was not reported as shipped"),
        ExitStatus(
            status: "1", subcommands: [.view],
            meaning:
                "the recording cannot be read, the page cannot be written, or no browser can be "
                + "started"),
        ExitStatus(status: "2", subcommands: others, meaning: "the command line is wrong"),
        ExitStatus(status: "125", subcommands: [.doctor], meaning: "record cannot work here"),
        ExitStatus(
            status: "141",
            subcommands: [
                .measure, .gate, .history, .report, .compare, .top, .view, .fold, .export, .ship,
                .doctor,
            ],
            meaning: "the output was closed (128 + SIGPIPE, as for other programs in a pipeline)"),
    ]
}
