import TestSupport
import Testing

extension EndToEnd {
    /// Programs that use signals, the sampling signal (SIGURG) above all, for purposes of their
    /// own: each gets what it was sent, and nothing else.
    @Suite struct SignalUsers {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// An auditing library is loaded before anything else: the program is watched all the same.
        @Test(arguments: [["handler"], ["late", "100"], ["dispositions"]])
        func withAnAuditingLibrary(mode: [String]) throws {
            let auditor = try Setup.fixture("auditor.so")
            let report = try SideBySide(scratch: scratch).compare(
                ["env", "LD_AUDIT=\(auditor)", try Setup.fixture("urgent")] + mode)
            #expect(report.phases.suffix(3).map(\.name).contains("Dynamic linking"))
            #expect(report.phases.last?.name == "Main")
        }

        private func compare(_ words: [String]) throws {
            try SideBySide(scratch: scratch).compare(fixture: words)
        }

        @Test(arguments: [
            ["urgent", "handler"], ["urgent", "late"], ["urgent", "dispositions"],
            ["urgent", "signalfd", "150"], ["urgent", "oob"], ["urgent", "window"],
        ])
        func theSamplingSignalIsTheirs(words: [String]) throws { try compare(words) }

        /// What ignores it, and what is executed there, is told so (SigIgn).
        @Test func theSamplingSignalStaysIgnored() throws {
            let look = "grep SigIgn /proc/self/status"
            let program = ["sh", "-c", "\(look); \(look) & wait; exec \(look)"]
            let ignoring = ["sh", "-c", "trap '' URG; exec \"$@\"", "sh"]
            let alone = try Command(ignoring + program).run()
            let record = try Firstlight.recording(program, to: scratch("recording")).words
            let recorded = try Command(ignoring + record).run()
            #expect(alone.output.contains("400000\n"))
            #expect(recorded == alone)
        }

        /// By the C library's syscall(2), which passes by us, too.
        @Test func theSamplingSignalIsSetByTheSystemCall() throws {
            try compare(["urgent", "raw"])
        }

        @Test(arguments: [["masked", "work"], ["masked", "wait"]])
        func allSignalsAreBlocked(words: [String]) throws { try compare(words) }

        /// A request may be on its way just when the program changes what the signal does.
        @Test(arguments: 0..<8)
        func theSamplingSignalIsTakenOverAtAnyMoment(seed: UInt64) throws {
            var numbers = SeededNumbers(seed: seed)
            let moment = String(Int.random(in: 5...25, using: &numbers))
            try compare(["urgent", "late", moment, "1"])
            try compare(["urgent", "late", moment, "2"])
            try compare(["urgent", "signalfd", moment])
        }

        @Test(arguments: 0..<6) func theSpareSignalIsTakenOverAtAnyMoment(seed: UInt64) throws {
            var numbers = SeededNumbers(seed: seed)
            let moment = String(Int.random(in: 1...90, using: &numbers))
            try compare(["urgent", "window", moment])
            try SideBySide(scratch: scratch).compare(
                fixture: ["urgent", "window", moment],
                options: ["--duration", "\(Int.random(in: 60...200, using: &numbers))ms"])
        }

        /// The same when the recording ends just then.
        @Test(arguments: 0..<6) func theSamplingSignalIsTakenOverAtTheEnd(time: Int) throws {
            try SideBySide(scratch: scratch).compare(
                fixture: ["urgent", "late", "50"], options: ["--duration", "\(54 + 6 * time)ms"])
        }

        @Test(arguments: [
            ["signals"], ["altstack"], ["timers", "profile"], ["timers", "posix"],
            ["timers", "thread"], ["timers", "children"],
        ])
        func otherSignals(words: [String]) throws { try compare(words) }

        /// A thread is led away just when a handler of its own is about to run, and once more
        /// while that runs.
        @Test(arguments: 1...10) func signalsAtEveryMoment(time: Int) throws {
            try compare(["timers", "storm"])
        }

        /// What ends a call ends it, too, while the capture is taken back.
        @Test(arguments: 1...5) func noSignalIsSwallowedAtTheEnd(time: Int) throws {
            try SideBySide(scratch: scratch).compare(
                fixture: ["timers", "once"], options: ["--duration", "\(50 + time)ms"])
        }

        /// Nor one that ends a call whose mask blocks ours.
        @Test func noSignalIsSwallowedByOurs() throws { try compare(["timers", "filled", "30"]) }

        @Test(.needs("bash"), arguments: 1...3) func aShellThatReadsFromItsChildren(time: Int)
            throws
        {
            let script = """
                for ((round = 0; round < 25; round++)); do
                    text=$(printf 'round %d' $round)
                    [ "$text" = "round $round" ] || { echo "$round: $text"; exit 9; }
                done
                """
            try SideBySide(scratch: scratch).compare(["bash", "-c", script])
        }

        @Test func childrenWithoutExec() throws { try compare(["forked"]) }

        @Test func aTracerOfItsOwnChild() throws { try compare(["tracer"]) }

        /// Go preempts its threads by the same signal.
        @Test(.needs("go"), arguments: ["1", "2"]) func go(processors: String) throws {
            try SideBySide(scratch: scratch).compare(
                fixture: ["goroutines"], adding: ["GOMAXPROCS": processors])
        }
    }
}
