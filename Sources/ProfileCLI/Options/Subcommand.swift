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
        case .doctor: "find out what works here, and how to fix the rest"
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
                With --wait, the process is the next that executes a program called NAME. NAME may \
                be the executable's file name, its argv[0], or the name of the file that was given \
                to execve (a script's own name). Processes that already run it do not count, and \
                neither do their forks. Recording begins about a millisecond after the execve.
                """,
            ]
        case .stop:
            [
                """
                Ends a recording. PID is the process of firstlight record or attach, not the program. \
                The file is completed, the summary printed, and the program goes on; record still \
                waits for it. Sending SIGUSR1 to attach does the same, but record passes that signal \
                on to the program.
                """
            ]
        case .measure:
            [
                """
                Launches PROGRAM ten times (-n) after a first launch that does not count. No stacks are \
                taken. Prints the median of the launch and of each phase, with its interval, and what \
                disturbed the launches. A launch ends as --until says, and with it the program: before \
                the next launch begins, the program and what it left behind are gone. The program's \
                output is shown only for launches that went wrong.
                """,
                """
                Launches that cannot count (the program failed, hung, was not ready, ended with a \
                different status than most, or was not cold although that was asked for) are shown and \
                made again, up to as many as were asked for. The environment of each launch has a \
                variable of random length, FIRSTLIGHT_LAYOUT, because the stack's address affects \
                speed. All launches are kept in launches.firstlight, which report reads.
                """,
                """
                With --against, PROGRAM and COMMAND take turns, and the difference is shown. Two \
                versions can be compared only in this way, because what else the machine does changes \
                from minute to minute.
                """,
            ]
        case .gate:
            [
                """
                Launches PROGRAM and the baseline in turns, as measure --against does, until it is \
                certain whether PROGRAM's launch is slower by more than is allowed (--max-regression, \
                and 2 ms in any case). Exits with 0 if it is not, 1 if it is, and 3 if that remains \
                uncertain. It checks after 10, 20 and 40 launches of each (--max-launches 40); a \
                regression is reported only if a second block of as many launches confirms it. The \
                phase that it comes from is named, if that is certain. No file is written without \
                -o or --junit.
                """,
                """
                The baseline is a command, or a measurement that was kept (measure -o). If the \
                measurement's program is where it was, unchanged, and is not the file that is measured \
                now, it is launched again, in turns. Otherwise the stored figures can only advise: then \
                the exit status is 0 or 3, never 1.
                """,
            ]
        case .watch:
            [
                """
                Sees every launch of the programs called NAME on this machine (--all: of all programs), \
                from its process's fork to its end, and keeps how long it took and what it used. The \
                folder --output gets measurements like those of measure, one for each program and \
                build. NAME is the same as for attach --wait. No program is stopped, signalled or \
                looked into. It needs root, or CAP_NET_ADMIN.
                """,
                """
                Standard output gets a line for each launch as soon as it is safely stored. A file is \
                finished after 1,000 launches and at the day's end (UTC); the oldest are deleted when \
                all together exceed --keep. SIGHUP finishes the files and begins new ones; SIGTERM or \
                Ctrl-C finishes them and ends with a summary. Files stay readable if watch is killed.
                """,
            ]
        case .history:
            [
                """
                Reads measurements (what measure -o keeps: files, or all *.firstlight in a folder) and \
                shows the 50th and the 90th percentile of the launch for each version, with their \
                intervals, its phases, and between which versions the launch changed. Several \
                measurements of a version are one point. Each combination of program, machine, \
                kernel and conditions is a separate series.
                """,
                """
                A change is a step of at least 3 % with at least three versions on either side, \
                and with a probability of at most 0.001 that chance alone made it; a single slow \
                measurement is not a change. Files that cannot be read are reported, and the rest \
                is shown.
                """,
                """
                With --from, the database to which measurements were shipped (firstlight ship) is \
                asked, and computes the figures itself. Machines that are alike are one series.
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
                processes, that report and fold read like any other. A sample counts for the CPU \
                time of its period. What threads waited for is known only if switches were recorded \
                ('perf record --switch-events', or -e sched:sched_switch): otherwise the time \
                between samples is not shown.
                """,
                """
                The files that were mapped must still be there, with the build ids that perf noted. \
                If FILE is damaged, what comes before the damage is imported, and the exit status \
                is 1.
                """,
            ]
        case .report:
            [
                """
                Reads FILE (launch.firstlight if none is given; - is standard input) and prints where \
                the time went: by default every phase with its wall and CPU time, what the main thread did in it, \
                its heaviest stack and, if it waited, its heaviest wait; its heaviest \
                initialisers and the program's signposts, if there are any.
                """
            ]
        case .compare:
            [
                """
                Reads two recordings, of a program before and after a change, and prints their phases \
                side by side and what accounts for the difference: the places in the code that took \
                more or less of the main thread's time, or are new or gone; waits, initialisers, \
                libraries and findings. A positive difference is additional time.
                """,
                """
                Functions are the same if their names and their modules' file names are, phases if \
                their names are: the program may have been rebuilt, moved or renamed. Differences add \
                up exactly to the launches' difference. A recording has only one launch, and launches \
                differ: measure --against tells whether one version is slower. With several recordings \
                on each side (--with), the means per launch are compared.
                """,
                """
                Two measurements are compared by launch and phase: medians, their difference, and its \
                bounds. They were not taken in turns, so everything else that changed in between is in \
                the difference, too. If their machines, kernels or conditions differ, they are refused \
                (without --anyway).
                """,
                """
                With --from, the database to which measurements were shipped (firstlight ship) is \
                asked, and computes the figures itself: all launches of PROGRAM's versions BEFORE and \
                AFTER, which are their names, or the beginning of a name. Each kind of machine has its \
                own comparison, the one with the most launches first.
                """,
                """
                folded: stacks of the main thread's wall time, with microseconds before and after, as \
                difffolded.pl writes them for flamegraph.pl. svg: a differential flame graph of that, \
                for any browser: red boxes took longer, blue ones took less time.
                """,
            ]
        case .top:
            [
                """
                Reads recordings of many launches, also of several versions of a program, and prints the \
                functions, waits, initialisers and libraries that cost most: how long each takes per \
                launch, and in how many launches it was seen. A folder stands for all files in it, and \
                in its subfolders, that end in .firstlight. Each program has its own lists.
                """,
                """
                Versions are told apart by the program's build id, and functions are the same if their \
                names and their modules' file names are, so that the program may have been rebuilt. A \
                launch in which something was not seen counts as 0. Recordings of running programs, and \
                those that were cut short, have no complete launch: they are reported and left out.
                """,
                """
                You can keep a list of what was resolved (--resolved), to which --resolve adds. The \
                other lists leave out what is on it. If newer recordings have it again, for at least \
                1 ms and half a percent of a launch, it comes first.
                """,
            ]
        case .view:
            [
                """
                Reads FILE (launch.firstlight if none is given), writes it as a page to \
                ~/.cache/firstlight, prints where, and opens it with xdg-open, or with the program \
                that BROWSER names. The page has the lines of source that stacks lead to. To give \
                a page to others, use report --format html.
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
                are the same everywhere; and how many failed. A folder stands for all files in it \
                that end in .firstlight.
                """,
            ]
        case .ship:
            [
                """
                Writes measurements and recordings, files or all *.firstlight in folders, to a \
                ClickHouse database by its HTTP interface: launches with their phases, and, for \
                recorded launches, what functions, waits, initialisers and libraries cost, with their \
                stacks. It prints 'shipped FILE' when all of the file is there. What is there already \
                is not sent again, and a launch that comes twice counts once: if it was interrupted, \
                run it again.
                """,
                """
                history, compare and top ask the database with --from. docs/fleet.md explains the tables, \
                the views and what is meant for dashboards.
                """,
            ]
        case .doctor:
            [
                """
                Tries everything that recording needs on a child process, and prints a line for each: \
                whether it is ok, limited or impossible (no) here, and how to fix it. \
                Takes a tenth of a second. The exit status is 0 if record works here, else 125.
                """
            ]
        }
    }
}
