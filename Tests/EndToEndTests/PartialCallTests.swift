import TestSupport
import Testing

extension EndToEnd {
    /// Calls that return a part of what was asked for when a signal or a stop comes: each must get
    /// all that it gets alone.
    @Suite struct PartialCalls {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        @Test(arguments: [
            "zero", "urandom", "getrandom", "pipe", "socket", "sendfile", "copy", "between",
        ])
        func getAllThatTheyAskFor(call: String) throws {
            try SideBySide(scratch: scratch).compare(fixture: ["partial", call])
        }

        /// What we did to the program is taken back then, by one of its threads.
        @Test(arguments: ["zero", "urandom", "getrandom", "pipe", "socket"])
        func whenTheRecordingEnds(call: String) throws {
            for duration in ["5ms", "10ms", "20ms", "40ms"] {
                try SideBySide(scratch: scratch).compare(
                    fixture: ["partial", call, "12"], options: ["--duration", duration])
            }
        }

        /// Nobody can be stopped in its own code then.
        @Test func whenTheRecordingEndsAndAllSignalsAreBlocked() throws {
            for duration in ["5ms", "20ms", "40ms"] {
                try SideBySide(scratch: scratch).compare(
                    fixture: ["partial", "pipe", "12", "blocked"],
                    options: ["--duration", duration])
            }
        }

        /// Where no event tells what a thread does, files warn of such calls.
        @Test(arguments: ["zero", "urandom", "between"])
        func withoutEventsWhoCouldBeHarmedIsLeftAlone(call: String) throws {
            try SideBySide(scratch: scratch).compare(
                fixture: ["partial", call], options: ["--capture", "ptrace"])
        }

        @Test(arguments: [
            (["if=/dev/zero", "bs=64M", "count=2"], 128),
            (["if=/dev/urandom", "bs=4M", "count=10"], 40),
        ])
        func dd(words: [String], mebibytes: Int) throws {
            let output = scratch("output")
            let recorded = try Firstlight.recording(
                ["dd", "of=\(output)", "status=none"] + words, to: scratch("recording"),
                options: ["--quiet"]
            ).run()
            #expect(recorded.status == 0)
            let size = try Command(["stat", "-c", "%s", output]).run().output
            #expect(size == "\(mebibytes << 20)\n")
        }
    }
}
