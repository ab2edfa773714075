/// What `firstlight` can be asked to do; the first argument names it.
package enum Subcommand: String, CaseIterable, Sendable {
    case record, attach, report, fold

    /// How many operands it takes.
    var operandCount: ClosedRange<Int> {
        switch self {
        case .record: 1...Int.max
        case .attach: 1...1
        case .report, .fold: 0...1
        }
    }

    /// As the usage line shows the operands.
    var operands: String {
        switch self {
        case .record: "[--] PROGRAM [ARG]..."
        case .attach: "PID"
        case .report, .fold: "[FILE]"
        }
    }

    var operandName: String {
        switch self {
        case .record: "program"
        case .attach: "process id"
        case .report, .fold: "file"
        }
    }

    /// Whether the first operand ends the options: the rest belongs to the recorded program.
    var endsOptionsAtOperand: Bool { self == .record }

    /// What a usage error ends with. `record` and `attach` keep to the numbers of env(1) and
    /// timeout(1), for theirs is otherwise the program's own.
    var usageStatus: Int32 { self == .record || self == .attach ? 125 : 2 }

    /// One line for the list of subcommands.
    var summary: String {
        switch self {
        case .record: "start a program and record its launch"
        case .attach: "record a process that is running"
        case .report: "show where a recording's time went"
        case .fold: "print folded stacks, for flame graphs"
        }
    }

    /// The paragraphs of the subcommand's help.
    var details: [String] {
        switch self {
        case .record:
            [
                """
                Starts PROGRAM, samples all its threads from its first instruction on, and prints \
                a summary to standard error when it ends. The program's input, output, \
                environment, working directory and signals are its own. The first word that is \
                not an option is the program; everything after it belongs to the program.
                """,
                """
                The recording ends with the program, after --duration, or at Ctrl-C (which also \
                reaches the program). When it ends first, the program goes on unrecorded and is \
                waited for. The exit status is the program's.
                """,
            ]
        case .attach:
            [
                """
                Samples all threads of the process PID until it exits, for --duration, or until \
                Ctrl-C, and prints a summary to standard error. The process goes on unharmed.
                """
            ]
        case .report:
            [
                """
                Reads FILE (launch.firstlight if none is given) and prints where the time went: by \
                default every phase with its wall and CPU time, what the main thread did in it, \
                its heaviest stack and, where it waited, its heaviest wait.
                """
            ]
        case .fold:
            [
                """
                Reads FILE (launch.firstlight if none is given) and prints one line for each \
                stack: phase;thread;outer;...;inner COUNT, with COUNT in microseconds. That is \
                what flamegraph.pl, inferno and speedscope read.
                """
            ]
        }
    }
}
