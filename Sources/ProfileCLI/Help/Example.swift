/// A useful command line, for the manual pages.
struct Example {
    var subcommand: Subcommand
    var purpose: String
    var command: String

    init(_ subcommand: Subcommand, _ purpose: String, _ command: String) {
        self.subcommand = subcommand
        self.purpose = purpose
        self.command = command
    }

    static let all = [
        Example(
            .record, "Record a launch and read the summary:",
            "firstlight record ./app --its-option"),
        Example(
            .record, "A server's launch, until it accepts connections:",
            "firstlight record --until listen ./server"),
        Example(
            .record, "The first two seconds of a server:",
            "firstlight record --duration 2s ./server"),
        Example(
            .attach, "The next start of a service, whoever starts it:",
            "firstlight attach --wait nginx"),
        Example(
            .stop, "End the recording, if there is only one:",
            "firstlight stop \"$(pgrep -x firstlight)\""),
        Example(
            .measure, "How long twenty launches take, until the first window:",
            "firstlight measure -n 20 --until window ./app"),
        Example(
            .measure, "Whether a change made it faster:",
            "firstlight measure -n 20 --against ./app-before ./app"),
        Example(
            .measure, "From disk, as after a reboot:", "firstlight measure --cold ./app"),
        Example(
            .watch, "Every launch of two programs on this machine, from now on:",
            "sudo firstlight watch nginx postgres"),
        Example(
            .gate, "Fail a build whose launch is slower than the last release's:",
            "firstlight gate --baseline ./app-released --junit gate.xml ./app"),
        Example(
            .gate, "The same with a measurement that was kept beside its program:",
            "firstlight gate --baseline released.firstlight --max-regression 5% ./app"),
        Example(
            .history, "How launches developed, as a page with a goal:",
            "firstlight history --goal 400ms --format html -o history.html measurements"),
        Example(
            .history, "Keep a release's measurement:",
            "firstlight history --add launches.firstlight --to measurements"),
        Example(
            .history, "The launches of all machines that shipped theirs:",
            "firstlight history --from http://clickhouse:8123/launches app"),
        Example(
            .ship, "Keep what a machine has measured, beside the others':",
            "firstlight ship --to http://clickhouse:8123/launches measurements/"),
        Example(
            .import, "What 'perf record --call-graph dwarf --switch-events' wrote:",
            "firstlight import perf.data"),
        Example(
            .report, "Who waited in main, and for what:",
            "firstlight report --phase main --weight wall"),
        Example(
            .report, "What made the launch longer than it needs to be:",
            "firstlight report --view findings"),
        Example(
            .compare, "Where a change saved time:",
            "firstlight compare before.firstlight after.firstlight"),
        Example(
            .compare, "A differential flame graph:",
            "firstlight compare --format svg -o difference.svg before.firstlight after.firstlight"),
        Example(
            .compare, "Two versions, by the launches of all machines that shipped theirs:",
            "firstlight compare --from http://clickhouse:8123/launches app 1.4.1 1.4.2"),
        Example(
            .top, "What costs most in all launches that were recorded:",
            "firstlight top recordings/"),
        Example(
            .top, "Note that a function was resolved, and see if it comes back:",
            "firstlight top --resolved resolved.jsonl --resolve 'Cache::open' recordings/"),
        Example(.fold, "A flame graph:", "firstlight fold | flamegraph.pl > launch.svg"),
        Example(
            .report, "Everything in one page, to give to others:",
            "firstlight report --format html -o launch.html"),
        Example(.view, "Show the recording as a page in the browser:", "firstlight view"),
        Example(
            .export, "A flame graph without another tool:",
            "firstlight export --format svg -o launch.svg"),
        Example(
            .export, "For go tool pprof:", "firstlight export --format pprof -o launch.pb.gz"),
        Example(
            .export, "Figures of many launches, for Prometheus:",
            "firstlight export --format prometheus --textfile /var/lib/prometheus/node-exporter "
                + "measurements/"),
        Example(.doctor, "Whether recording works here:", "firstlight doctor"),
    ]
}
