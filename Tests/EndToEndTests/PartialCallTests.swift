import EndToEndSupport
import TestSupport
import Testing

extension EndToEnd {
    /// Calls that return only a part of the data when a signal or a stop comes: each must return as
    /// much as without recording.
    @Suite struct PartialCalls {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        @Test(arguments: [
            "zero", "urandom", "getrandom", "pipe", "parts", "socket", "sendfile", "copy",
            "between",
            "computed", "deep",
        ])
        func getAllThatTheyAskFor(call: String) throws {
            try SideBySide(scratch: scratch).compare(fixture: ["partial", call])
        }

        /// At the end of the recording one of the program's threads undoes our changes.
        @Test(arguments: ["zero", "urandom", "getrandom", "pipe", "socket"])
        func whenTheRecordingEnds(call: String) throws {
            for duration in ["5ms", "10ms", "20ms", "40ms"] {
                try SideBySide(scratch: scratch).compare(
                    fixture: ["partial", call, "12"], options: ["--duration", duration])
            }
        }

        /// At the end no thread can be stopped in its own code.
        @Test func whenTheRecordingEndsAndAllSignalsAreBlocked() throws {
            for duration in ["5ms", "20ms", "40ms"] {
                try SideBySide(scratch: scratch).compare(
                    fixture: ["partial", "pipe", "12", "blocked"],
                    options: ["--duration", duration])
            }
        }

        /// If a stop cuts a call short, the thread moves the rest in our code. A thread that has
        /// devices open that return any amount of data is left alone.
        @Test(arguments: [
            "zero", "urandom", "between", "pipe", "parts", "socket", "sendfile", "copy", "computed",
            "deep",
        ])
        func byStops(call: String) throws {
            try SideBySide(scratch: scratch).compare(
                fixture: ["partial", call], options: ["--capture", "ptrace"])
        }

        /// The same if a signal cuts the call short, as in many containers.
        @Test(arguments: [
            "zero", "between", "pipe", "parts", "socket", "sendfile", "copy", "computed", "deep",
        ])
        func withoutEvents(call: String) throws {
            try SideBySide(scratch: scratch).compare(
                [try Setup.fixture("partial"), call],
                under: [try Setup.fixture("without"), "perf_event_open"])
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
