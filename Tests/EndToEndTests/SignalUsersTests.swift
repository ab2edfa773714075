import EndToEndSupport
import TestSupport
import Testing

extension EndToEnd {
    /// Programs that use signals themselves, especially the sampling signal (SIGURG): each gets the
    /// signals that it was sent, and no others.
    @Suite struct SignalUsers {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// An auditing library is loaded before anything else. The program is recorded all the
        /// same.
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

        /// The program ignores the signal, and programs that it executes see this, too (SigIgn).
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

        /// By the C library's syscall(2), which does not call our code.
        @Test func theSamplingSignalIsSetByTheSystemCall() throws {
            try compare(["urgent", "raw"])
        }

        @Test(arguments: [["masked", "work"], ["masked", "wait"]])
        func allSignalsAreBlocked(words: [String]) throws { try compare(words) }

        /// A request for a sample may be under way just when the program changes the signal's
        /// action.
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

        /// The same, just when the recording ends.
        @Test(arguments: 0..<6) func theSamplingSignalIsTakenOverAtTheEnd(time: Int) throws {
            try SideBySide(scratch: scratch).compare(
                fixture: ["urgent", "late", "50"], options: ["--duration", "\(54 + 6 * time)ms"])
        }

        @Test(arguments: [
            ["signals"], ["altstack"], ["timers", "profile"], ["timers", "posix"],
            ["timers", "thread"], ["timers", "children"],
        ])
        func otherSignals(words: [String]) throws { try compare(words) }

        /// The memory below a stack pointer is the program's, wherever that points.
        @Test(arguments: [["heapstack"], ["heapstack", "300", "70000"]])
        func aStackPointerInTheHeap(words: [String]) throws { try compare(words) }

        /// As in many containers: stacks are taken by signals, whose frames go to stacks of ours.
        @Test(arguments: [
            ["heapstack"], ["contexts"], ["altstack"], ["urgent", "handler"], ["forked"],
            ["stacks", "coroutine", "8192", "6144"], ["stacks", "smallest"],
            ["stacks", "given", "24576", "18432"], ["stacks", "alternate"], ["stacks", "deep"],
        ])
        func withoutEvents(words: [String]) throws {
            let wrapper = [try Setup.fixture("without"), "perf_event_open"]
            let report = try SideBySide(scratch: scratch).compare(
                [try Setup.fixture(words[0])] + words.dropFirst(), under: wrapper)
            if words[0] == "heapstack" {
                // The thread could be sampled all the same, wherever its stack pointer was.
                #expect(!report.launch.notes.map(\.kind).contains("foreign_stack"))
            }
        }

        /// Outside of the C library's code no system call is made.
        @Test func callsThatAreDispatched() throws { try compare(["dispatched"]) }

        /// A thread is diverted just when one of its own handlers is about to run, and once more
        /// while this handler runs.
        @Test(arguments: 1...10) func signalsAtEveryMoment(time: Int) throws {
            try compare(["timers", "storm"])
        }

        /// A signal that ends a call also ends it while our capture is being removed.
        @Test(arguments: 1...5) func noSignalIsSwallowedAtTheEnd(time: Int) throws {
            try SideBySide(scratch: scratch).compare(
                fixture: ["timers", "once"], options: ["--duration", "\(50 + time)ms"])
        }

        /// The same for a call whose mask blocks our signal.
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
