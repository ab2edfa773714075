/// The subcommands of `firstlight`; the first argument names one.
package enum Subcommand: String, CaseIterable, Sendable {
    case record, attach, stop, measure, gate, watch, history, `import`, report, compare, top, view,
        fold, export, ship, doctor

    /// How many operands it takes.
    var operandCount: ClosedRange<Int> {
        switch self {
        case .record, .measure, .gate: 1...Int.max
        case .attach, .stop: 1...1
        case .watch, .history: 0...Int.max
        case .import: 1...1
        case .compare: 2...Int.max
        case .top, .ship: 0...Int.max
        case .report, .view, .fold: 0...1
        case .export: 0...Int.max
        case .doctor: 0...0
        }
    }

    /// The operands in usage lines: one line for each way to call it.
    var operands: [String] {
        switch self {
        case .record, .measure, .gate: ["[--] PROGRAM [ARG]..."]
        case .attach: ["{PID|--wait NAME}"]
        case .stop: ["PID"]
        case .watch: ["{NAME...|--all}"]
        case .history: ["{DIR|FILE}...", "--from URL [PROGRAM]..."]
        case .import: ["FILE"]
        case .compare:
            ["{BEFORE AFTER|BEFORE... --with AFTER...}", "--from URL PROGRAM BEFORE AFTER"]
        case .top: ["{FILE|FOLDER}...", "--from URL [PROGRAM]..."]
        case .report, .view, .fold: ["[FILE]"]
        case .export: ["[FILE|FOLDER]..."]
        case .ship: ["--to URL [FILE|FOLDER]..."]
        case .doctor: [""]
        }
    }

    var operandName: String {
        switch self {
        case .record, .measure, .gate, .watch: "program"
        case .attach, .stop: "process id"
        case .history, .import, .report, .compare, .top, .view, .fold, .export, .ship: "file"
        case .doctor: "operand"
        }
    }

    /// True if the first operand ends the options: the rest belongs to the program.
    var endsOptionsAtOperand: Bool { [.record, .measure, .gate].contains(self) }

    /// The exit status of a usage error. Subcommands that run programs use the numbers of env(1)
    /// and timeout(1).
    var usageStatus: Int32 { [.record, .attach, .measure, .gate].contains(self) ? 125 : 2 }

    /// One line for the list of subcommands.
    var summary: String {
        switch self {
        case .record: "start a program and record its launch"
        case .attach: "record a process that is running"
        case .stop: "end a recording, and let the program go on"
        case .measure: "launch a program many times, and say how long that takes"
        case .gate: "say whether a program launches slower than another, for CI"
        case .watch: "keep how long every launch on this machine takes"
        case .history: "show how launches developed, and where they changed"
        case .import: "make a recording of what perf recorded"
        case .report: "show where a recording's time went"
        case .compare: "show why two recordings, or measurements, differ"
        case .top: "show what costs most across many recordings"
        case .view: "show a recording in the browser"
        case .fold: "print folded stacks, for flame graphs"
        case .export: "write a recording for other viewers"
        case .ship: "write the launches of many machines to a database"
        case .doctor: "find out what works here, and how to mend the rest"
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
                The recording ends with the program, when the launch is over (--until), after \
                --duration, or at Ctrl-C (which also reaches the program). When it ends first, \
                the program goes on unrecorded and is waited for; but one that became ready is \
                stopped (--after). The exit status is the program's, or 0 if it was stopped \
                because it was ready.
                """,
            ]
        case .attach:
            [
                """
                Samples all threads of the process PID until it exits, for --duration, or until \
                Ctrl-C, and prints a summary to standard error. The process goes on unharmed.
                """,
                """
                With --wait, the process is the next that executes a program called NAME: so is \
                its executable's file, its argv[0], or the file that was given to execve (a \
                script's own name). Processes that run it already do not count, nor do their \
                forks. Recording begins about a millisecond after the execve.
                """,
            ]
        case .stop:
            [
                """
                Ends the recording that the process PID makes, which is a firstlight record or attach, \
                not the program: the file is completed, the summary printed, and the program goes on. \
                record then waits for it, as ever. Sending SIGUSR1 to an attach does the same; a \
                record passes it on to the program.
                """
            ]
        case .measure:
            [
                """
                Launches PROGRAM ten times (-n) after once that does not count, without taking stacks, \
                and prints the median of the launch and of each phase, with the interval that holds \
                it, and what disturbed. A launch ends as --until says, and with it the program: before \
                the next one it, and what it left behind, are gone. What it prints is not shown, but \
                for that of launches that went wrong.
                """,
                """
                Launches that cannot count (the program failed, hung, was not ready, ended with \
                another status than most, or was not cold though that was asked for) are shown and \
                made again, up to as many as were asked for. From launch to launch a variable of \
                random length, FIRSTLIGHT_LAYOUT, is in the environment: where the stack begins has an \
                influence on speed. All launches are kept in launches.firstlight, which report reads.
                """,
                """
                With --against, two programs take turns, PROGRAM and COMMAND, and the difference is \
                shown. Only so can two versions be compared: what else the machine does changes from \
                minute to minute.
                """,
            ]
        case .gate:
            [
                """
                Launches PROGRAM and the baseline in turns, as measure --against does, until it is \
                sure whether PROGRAM's launch is slower by more than is allowed (--max-regression, and \
                2 ms in any case), and exits with 0 if not, 1 if so, and 3 if that cannot be told. It \
                looks after 10, 20 and 40 launches of each (--max-launches 40); a regression is told \
                only if a second block of as many launches says so, too. The phase that it comes from \
                is named. No file is written without -o or --junit.
                """,
                """
                The baseline is a command, or a measurement that was kept (measure -o). If the \
                program of the measurement is where it was, unchanged, and is not the file that is \
                measured, it is launched again, in turns. Otherwise the stored figures can only \
                advise: the exit status is 0 or 3 then, never 1.
                """,
            ]
        case .watch:
            [
                """
                Sees every launch of the programs called NAME on this machine (--all: of all programs), \
                from its process's fork to its end, and keeps how long it took and what it used: in \
                measurements, as measure makes them, one for each program and build, in --output. \
                Programs go by the names that attach --wait knows them by. Nobody is stopped, \
                signalled or looked into. It needs root, or CAP_NET_ADMIN.
                """,
                """
                A launch is told, on a line of standard output, once it is kept for good. A file is \
                finished after 1,000 launches and at the day's end (UTC); the oldest go when all are \
                more than --keep. SIGHUP finishes the files and begins new ones; SIGTERM or Ctrl-C \
                finishes them and ends with a summary. What a kill leaves behind can be read.
                """,
            ]
        case .history:
            [
                """
                Reads measurements (what measure -o keeps: files, or all *.firstlight in a folder) and \
                shows the 50th and the 90th percentile of the launch for each version, with the \
                intervals that hold them, its phases, and between which versions the launch changed. \
                Several measurements of a version are one point. Different programs, machines, kernels \
                and conditions are series of their own.
                """,
                """
                A change is a step of at least 3 % with at least three versions on either side, so \
                sure that chance makes one in a thousand; a single slow measurement is none. What cannot \
                be read is told, and the rest shown.
                """,
                """
                With --from, the database is asked to which measurements were shipped (firstlight \
                ship), and reckons itself: of many machines, those that are alike are one series.
                """,
                """
                With --add, measurements are copied to a folder that keeps them in order. One that is \
                there already is not added again.
                """,
            ]
        case .import:
            [
                """
                Reads FILE, which 'perf record' wrote (perf.data; with --call-graph dwarf or fp, \
                compressed or not, also from a pipe), and makes a recording of one of its \
                processes, that report and fold read like any other. A sample is a slice of as \
                much CPU time as it stands for. What threads waited for is known only where \
                switches were recorded ('perf record --switch-events', or -e sched:sched_switch): \
                otherwise the time between samples is not shown.
                """,
                """
                The files that were mapped must still be there, with the build ids that perf noted. \
                Where FILE is damaged, what came before is imported, and the exit status is 1.
                """,
            ]
        case .report:
            [
                """
                Reads FILE (launch.firstlight if none is given) and prints where the time went: by \
                default every phase with its wall and CPU time, what the main thread did in it, \
                its heaviest stack and, where it waited, its heaviest wait; its heaviest \
                initialisers and the program's signposts, where there are any.
                """
            ]
        case .compare:
            [
                """
                Reads two recordings, of a program before and after a change, and prints their phases \
                side by side and what accounts for the difference: the places in the code that took \
                more or less of the main thread's time, or came or went; waits, initialisers, \
                libraries and findings. A positive difference is more time.
                """,
                """
                Functions are the same if their names and their modules' file names are, phases if \
                their names are: the program may have been rebuilt, moved or renamed. Differences add \
                up to that of the launches exactly. Each recording is of a single launch: whether one \
                version is slower, measure --against tells. Of several recordings on each side (--with) \
                the means per launch are compared.
                """,
                """
                Two measurements are compared by launch and phase: medians, their difference, and the \
                bounds that it lies in. They were not taken in turns, so that whatever else changed in \
                between is in the difference; those of other machines, kernels or conditions are \
                refused (--anyway).
                """,
                """
                With --from, the database is asked to which measurements were shipped (firstlight \
                ship), and reckons itself: all launches of PROGRAM's versions BEFORE and AFTER, which \
                are their names, or the beginning of one. Each kind of machine has a comparison of its \
                own, the one with the most launches first.
                """,
                """
                folded: stacks of the main thread's wall time, with microseconds before and after, as \
                difffolded.pl writes them for flamegraph.pl. svg: a differential flame graph of that, \
                for any browser: red took longer, blue less.
                """,
            ]
        case .top:
            [
                """
                Reads recordings of many launches, also of several versions of a program, and prints the \
                functions, waits, initialisers and libraries that cost most: how long each takes per \
                launch, and in how many launches it was seen. A folder stands for the files in it, and \
                in the folders within, that end in .firstlight. Each program has lists of its own.
                """,
                """
                Versions are told apart by the program's build id, and functions are the same if their \
                names and their modules' file names are, so that the program may have been rebuilt. A \
                launch in which something was not seen counts as 0. Recordings of running programs, and \
                those that were cut short, are no launches: they are told and left out.
                """,
                """
                A list of what was dealt with (--resolved) is a file of yours, to which --resolve adds. \
                What is on it is left out of the lists. What newer recordings have again, it costing \
                1 ms per launch and half a percent of it at least, comes first.
                """,
            ]
        case .view:
            [
                """
                Reads FILE (launch.firstlight if none is given), writes it as a page to \
                ~/.cache/firstlight, prints where, and opens it with xdg-open, or with the program \
                that BROWSER names. The page has the lines of source that stacks lead to. To hand \
                it on, use report --format html.
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
        case .export:
            [
                """
                Reads FILE (launch.firstlight if none is given) and writes it in the format of \
                other viewers, to standard output or to the file that --output names. Times are \
                the launch's, from its start; sums are those that report shows.
                """,
                """
                folded: what flamegraph.pl and inferno read, with phase and thread. svg: a flame \
                graph, for any browser. speedscope: for speedscope.app, in the order of time. \
                firefox: for profiler.firefox.com, with markers for phases, signposts, \
                initialisers, libraries and waits. pprof: for pprof and Grafana, with cpu, wall \
                and blocked time, gzipped. perf-script: what perf script prints, for hotspot and \
                stackcollapse-perf.pl. chrome: phases, intervals and what threads did, for \
                ui.perfetto.dev. sqlite: the recording itself with plain tables, for SQL.
                """,
                """
                prometheus (text format), otlp (OpenTelemetry's protocol as JSON) and metrickit \
                (the shape of MetricKit's payloads): how long the launches of one or many \
                recordings and measurements took, in all and by phase, as histograms whose buckets \
                are the same everywhere; and how many failed. Of folders, all files in them that \
                end in .firstlight.
                """,
            ]
        case .ship:
            [
                """
                Writes measurements and recordings, files or all *.firstlight in folders, to a \
                ClickHouse database by its HTTP interface: launches with their phases, and what \
                functions, waits, initialisers and libraries cost recorded ones, with their stacks. \
                A file is told (shipped FILE) when all of it is there. What is there already is not \
                sent again, and a launch that comes twice counts once: whatever ends it, run it again.
                """,
                """
                history, compare and top ask the database with --from. The tables, their views and what is \
                meant for dashboards are explained in docs/fleet.md.
                """,
            ]
        case .doctor:
            [
                """
                Tries what recording needs on a child process of its own, and says in one line \
                for each whether it is ok, limited or impossible (no) here, and how to mend it. \
                Takes a tenth of a second. The exit status is 0 if record works here, else 125.
                """
            ]
        }
    }
}
