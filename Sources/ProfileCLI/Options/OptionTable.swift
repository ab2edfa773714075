import Analysis
import Exports
import ProfileModel
import Report
import Sampler

/// Identifies an option in the code.
package enum OptionName: Hashable, Sendable {
    case help
    case output, frequency, duration, last, capture, stackBytes, unwinder, followChildren, switches,
        runtime,
        after, quiet,
        progress, wait, symbolCache
    case view, phase, thread, weight, minPercent, minDuration, depth, format, demangle,
        exportFormat, textFolder, otlp
    case noPhase, noThread, process
    case interval, parts
    case until, extended, watchdog, mark
    case pid, timings
    case embedSource, sourceRoot
    case full, notes, budget
    case launches, against, warm, cold, network, disk, clean, between, before, envFile, freshHome,
        home, versionName, thenRecord
    case baseline, maxRegression, maxLaunches, junit
    case with, anyway, explain
    case resolved, resolve
    case by, goal, add, to
    case createTables, again, from, machines
    case all, keep, profileEvery, profileBudget, pushEvery
}

/// All about one option. Parsing, `--help`, the manual page and the suggestions for misspelt
/// options use this.
package struct OptionDeclaration: Sendable {
    package var name: OptionName
    /// Without its dashes.
    package var long: String
    package var short: Character?
    /// The name of the value in the help; empty for a switch.
    package var placeholder: String
    package var kind: ValueKind
    package var help: String
    package var subcommands: Set<Subcommand>

    /// `--frequency HZ`, `--cold[=all]`.
    var title: String {
        switch kind {
        case .optional: "--\(long)[=\(placeholder)]"
        default: "--" + long + (placeholder.isEmpty ? "" : " " + placeholder)
        }
    }

    /// True if all of its values count, not only the last.
    var mayRepeat: Bool { [.until, .mark, .resolve, .add].contains(name) }

    init(
        _ name: OptionName, _ long: String, short: Character? = nil, _ placeholder: String = "",
        _ kind: ValueKind = .none, for subcommands: Set<Subcommand>, _ help: String
    ) {
        self.name = name
        self.long = long
        self.short = short
        self.placeholder = placeholder
        self.kind = kind
        self.help = help
        self.subcommands = subcommands
    }
}

package enum OptionTable {
    private static let recording: Set<Subcommand> = [.record, .attach]
    private static let reading: Set<Subcommand> = [.report, .fold, .export]

    /// In the order of the help texts.
    package static let options: [OptionDeclaration] =
        others + comparing + topping + gating + history + shipping + measuring + watching + [
            .init(.help, "help", short: "h", for: Set(Subcommand.allCases), "print this help")
        ]

    private static let others: [OptionDeclaration] = [
        .init(
            .output, "output", short: "o", "FILE", .text, for: recording.union([.import]),
            """
            where the recording goes (default: \(RecordOptions.defaultOutput)); an older recording \
            there is kept as FILE.old
            """),
        .init(
            .frequency, "frequency", short: "F", "HZ", .integer(1...10_000), for: recording,
            "sample every thread HZ times a second, up to 10000 (default: 1000)"),
        .init(
            .duration, "duration", "TIME", .duration, for: recording,
            "end the recording after TIME: 250ms, 2s, 1.5s, 1m"),
        .init(
            .last, "last", "TIME", .duration, for: recording,
            """
            keep only the last TIME of the recording, 1s or more, for a server that runs for days. \
            The recording ends with the program, at --until, after --duration, or by firstlight stop
            """),
        .init(
            .capture, "capture", "METHOD", .choice(CaptureMethod.ownMethods.map(\.rawValue)),
            for: recording,
            """
            how running threads' stacks are taken: signal (default; by the kernel's events, and by a \
            handler placed in the program once a thread computes; threads for which neither works \
            are stopped) or ptrace (every thread is stopped for a moment)
            """),
        .init(
            .stackBytes, "stack-bytes", "N", .integer(1024...(1 << 20)), for: recording,
            """
            copy at most N bytes of a stack, up to 1048576 (default: \
            \(SamplerOptions.usualStackBytes)); only what is in use is copied
            """),
        .init(
            .unwinder, "unwinder", "ENGINE", .choice(UnwindEngine.allCases.map(\.rawValue)),
            for: recording.union([.import]),
            """
            what unwinds stacks: quick (default; our own, with libunwind's help where it has no \
            rule) or libunwind alone, which takes a hundred times as long
            """),
        .init(
            .followChildren, "follow-children", for: recording,
            """
            also record the processes that the program starts, and those that they start: by the \
            kernel's events, or by ptrace where events are not permitted
            """),
        .init(
            .switches, "switches", "WHETHER", .choice(["on", "off"]), for: recording,
            """
            whether to record every switch of a thread, as far as the kernel permits it \
            (default: on); off makes recordings smaller where threads compete for cores
            """),
        .init(
            .runtime, "runtime", "LANGUAGE", .choice(RequestedRuntime.allCases.map(\.rawValue)),
            for: [.record],
            """
            make the program's runtime list its functions. node: JavaScript's functions get names, \
            and report --view imports shows how long each module took to load. This changes the \
            program: NODE_OPTIONS gets two more options, for it and what it starts. Node's \
            processes that are not recorded (see --follow-children) leave a file \
            /tmp/perf-PID.map. Python's functions need no option
            """),
        .init(
            .after, "after", "WHAT", .choice(AfterRecording.allCases.map(\.rawValue)),
            for: [.record],
            """
            when the recording ends before the program: keep it running and wait for it, or stop \
            it with SIGTERM; the default is stop if --until names anything but exit, or if \
            --watchdog ended the recording, otherwise keep
            """),
        .init(
            .symbolCache, "symbol-cache", "WHETHER", .choice(["on", "off"]), for: recording,
            """
            whether the functions and lines that were found for modules with debug information \
            are kept in ~/.cache/firstlight, and taken from there the next time (default: on)
            """),
        .init(
            .quiet, "quiet", for: recording.union([.import]), "print no summary at the end"),
        .init(
            .progress, "progress", for: recording,
            """
            show the recording's progress in a line on the terminal, even if the program writes to \
            the same terminal: its text may then follow ours (default: only if it writes elsewhere)
            """),
        .init(
            .pid, "pid", "PID", .integer(1...Int(Int32.max)), for: [.import],
            """
            the process to import (default: the one that perf started, or the one with the most \
            samples)
            """),
        .init(
            .wait, "wait", "NAME", .text, for: [.attach],
            """
            instead of PID: wait until a program called NAME is executed, and record it from then on
            """),
        .init(
            .view, "view", "VIEW", .choice(View.allCases.map(\.rawValue)), for: [.report],
            """
            summary (default: forty lines at most), full (everything that explains each phase), notes \
            (what to know about the recording), heaviest (the heaviest stack, and the functions by their own \
            time), tree (callers above callees), bottom-up (functions with their callers below), \
            processes (what was started, by whom, and what it cost), threads, modules, libraries (what was loaded, for whom, and whether it was used), \
            initializers (heaviest first, with what each did), imports (modules of Python and Node, below what \
            imported them), intervals (signposts and marks), \
            events (what threads waited for, where, and who ended it), timeline (what each \
            thread did over time), critical-path (the chain of running and waiting that \
            decided how long it took) or findings (what made the launch longer than it needs to be)
            """),
        .init(
            .full, "full", for: [.report],
            """
            everything that explains each phase, for the summary's forty lines: the same as --view \
            full
            """),
        .init(
            .notes, "notes", for: [.report],
            "what to know about the recording: the same as --view notes"),
        .init(
            .phase, "phase", "NAME", .text, for: reading.union([.compare, .top]),
            "only this phase; the beginning of its name is enough"),
        .init(.thread, "thread", "TID|NAME", .text, for: reading, "only this thread"),
        .init(
            .process, "process", "PID|NAME", .text, for: reading.union([.view]),
            """
            only this process of those that were recorded with --follow-children, with the phases \
            of its own launch
            """),
        .init(
            .interval, "interval", "NAME", .text, for: reading,
            """
            only the time of the program's intervals of this name, on all threads; the beginning \
            of the name is enough
            """),
        .init(
            .weight, "weight", "WEIGHT", .choice(Weight.allCases.map(\.rawValue)), for: reading,
            """
            what counts: cpu (default), wall, blocked, or runnable (waiting for a core); with wall \
            and blocked, stacks of waits end in the wait's reason
            """),
        .init(
            .demangle, "demangle", "STYLE", .choice(NameStyle.allCases.map(\.rawValue)),
            for: reading.union([.compare, .top, .view]),
            """
            how functions of C++, Rust and Swift are named: full (default; if space is short, \
            parameters and template arguments are dropped first), simple (always without them; \
            functions that differ only in them are shown as one) or none (as the linker knows them)
            """),
        .init(
            .minPercent, "min-percent", "P", .percent, for: [.report],
            "leave out functions below P percent"),
        .init(
            .minDuration, "min-duration", "TIME", .duration, for: [.report],
            """
            events: leave out waits shorter than TIME (default and minimum: 1ms); \
            critical-path: merge what took less
            """),
        .init(
            .parts, "with", "PARTS", .text, for: [.report],
            """
            what --format json has in addition, separated by commas: events (every wait) and \
            timeline (what each thread did when); both grow with the recording
            """),
        .init(
            .depth, "depth", "N", .integer(1...Int.max), for: [.report, .compare, .top],
            "at most N levels of a tree, or lines of a list"),
        .init(
            .format, "format", "FORMAT", .choice(ReportFormat.allCases.map(\.rawValue)),
            for: [.report],
            """
            text (default), markdown (the summary, for an issue or a pull request, or for an \
            assistant that reads), json (complete, for programs), html (complete, a page for a browser \
            that needs nothing else: timeline, trees, flame graphs) or, for a measurement, csv (a \
            row for each launch)
            """),
        .init(
            .budget, "budget", "BYTES", .integer(MarkdownReport.leastBudget...Int.max),
            for: [.report],
            "markdown: take at most BYTES (default: \(MarkdownReport.usualBudget))"),
        .init(
            .format, "format", "FORMAT", .choice(CheckFormat.allCases.map(\.rawValue)),
            for: [.doctor], "text (default) or json (for programs)"),
        .init(
            .embedSource, "embed-source", for: [.report],
            """
            html: with the lines of source that stacks lead to, from files below --source-root that \
            have not changed since
            """),
        .init(
            .sourceRoot, "source-root", "DIR", .text, for: [.report, .view],
            """
            show source only from files below this folder (default: the working directory); whoever \
            made a recording decides which files it names
            """),
        .init(
            .exportFormat, "format", "FORMAT", .choice(ExportTarget.names),
            for: [.export], "the format, see above"),
        .init(
            .textFolder, "textfile", "DIR", .text, for: [.export],
            """
            prometheus: write into DIR/firstlight.prom, which node_exporter's textfile collector \
            reads
            """),
        .init(
            .otlp, "otlp", "URL", .text, for: [.export],
            """
            send figures by OpenTelemetry's protocol, to http://HOST[:4318][/v1/metrics]; what \
            cannot be sent is kept, and sent the next time
            """),
        .init(
            .output, "output", short: "o", "FILE", .text, for: [.report, .compare, .top, .export],
            "the file to write (default: standard output)"),
        .init(.noPhase, "no-phase", for: [.fold], "stacks without their phase"),
        .init(.noThread, "no-thread", for: [.fold], "stacks without their thread"),
        .init(
            .until, "until", "CONDITION", .text, for: recording,
            "when the launch is over: " + ReadyArgument.help(.record)
                + ". attach takes no notify and no output, and window and frame on X11 alone"),
        .init(
            .extended, "extended", "TIME", .duration, for: recording,
            "go on recording for TIME after the program is ready"),
        .init(
            .watchdog, "watchdog", "TIME", .duration, for: recording,
            """
            if the launch is not over after TIME: print every thread's stack and what it waits \
            for, end the recording and the program (but see --after), and exit with status 124
            """),
        .init(
            .mark, "mark", "NAME=PLACE", .text, for: recording,
            """
            note when the program reaches a place, without stopping it: NAME=SYMBOL (each time \
            that the function is entered), NAME=SYMBOL.. (as an interval, until it returns) or \
            NAME=usdt:PROVIDER:PROBE (a probe of sys/sdt.h). SYMBOL is a linkage name or a name \
            without parameters (ns::Class::method), of the program and all of its libraries, or of \
            one: LIBRARY!SYMBOL. May be given several times
            """),
        .init(
            .timings, "timings", for: [.import, .report, .compare, .top],
            "print to standard error how long each step took"),
    ]

    /// Those of one subcommand.
    package static func options(of subcommand: Subcommand) -> [OptionDeclaration] {
        options.filter { $0.subcommands.contains(subcommand) }
    }
}

/// The options of `top` that no other subcommand has.
extension OptionTable {
    static let topping: [OptionDeclaration] = [
        .init(
            .format, "format", "FORMAT", .choice(TopFormat.allCases.map(\.rawValue)),
            for: [.top], "text (default) or json (complete, for programs)"),
        .init(
            .resolved, "resolved", "FILE", .text, for: [.top],
            """
            a list of what was resolved, a JSON object in each line: the lists leave it out, and it is \
            shown first if newer launches have it again
            """),
        .init(
            .resolve, "resolve", "[KIND=]NAME", .text, for: [.top],
            """
            add NAME to the list of --resolved, as resolved from now on: a name as it is shown, or its \
            beginning; KIND is function, wait, initializer, library or process (default: all with \
            that name). May be given several times
            """),
    ]
}
