import Testing

extension EndToEnd {
    /// Programs that use signals, the sampling signal (SIGURG) above all, for purposes of their
    /// own: each gets what it was sent, and nothing else.
    @Suite struct SignalUsers {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func compare(_ words: [String]) throws {
            try SideBySide(scratch: scratch).compare(fixture: words)
        }

        @Test(arguments: [
            ["urgent", "handler"], ["urgent", "late"], ["urgent", "dispositions"],
            ["urgent", "signalfd", "150"], ["urgent", "oob"],
        ])
        func theSamplingSignalIsTheirs(words: [String]) throws { try compare(words) }

        /// Who sets an action without the C library does not pass by us (docs/design.md): it is
        /// told of our handler, and may get the one request that is under way. No more, and of
        /// its own signals none is lost.
        @Test func theSamplingSignalIsSetByTheSystemCall() throws {
            let program = [try Setup.fixture("urgent"), "raw"]
            let recorded = try Firstlight.recording(
                program, to: scratch("recording"), options: ["--quiet"]
            ).run()
            let lines = recorded.output.split(separator: "\n")
            #expect(lines.contains("signals 20 of 20"))
            #expect(
                lines.contains("foreign signals 0 of 0") || lines.contains("foreign signals 1 of 0")
            )
        }

        @Test(arguments: [["masked", "work"], ["masked", "wait"]])
        func allSignalsAreBlocked(words: [String]) throws { try compare(words) }

        /// A request may be on its way just when the program changes what the signal does.
        @Test(arguments: 0..<8)
        func theSamplingSignalIsTakenOverAtAnyMoment(seed: UInt64) throws {
            var numbers = SeededNumbers(seed: seed)
            let moment = String(Int.random(in: 5...25, using: &numbers))
            try compare(["urgent", "late", moment, "1"])
            try compare(["urgent", "signalfd", moment])
        }

        @Test(arguments: [
            ["signals"], ["altstack"], ["timers", "profile"], ["timers", "posix"],
            ["timers", "thread"], ["timers", "children"],
        ])
        func otherSignals(words: [String]) throws { try compare(words) }

        @Test func childrenWithoutExec() throws { try compare(["forked"]) }

        @Test func aTracerOfItsOwnChild() throws { try compare(["tracer"]) }

        /// Go preempts its threads by the same signal.
        @Test(.needs("go"), arguments: ["1", "2"]) func go(processors: String) throws {
            try SideBySide(scratch: scratch).compare(
                fixture: ["goroutines"], adding: ["GOMAXPROCS": processors])
        }
    }
}
