import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// `--last`: of a recording of any length, only the end is kept.
    @Suite struct LastStretch {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Eight stages of 400 ms: the last second has the last two, and a part of the previous
        /// one.
        @Test(arguments: [[], ["--follow-children"], ["--capture", "ptrace"]])
        func onlyTheEndIsKept(options: [String]) throws {
            let recorded = try Firstlight.record(
                [try Setup.fixture("stages"), "400"], in: scratch,
                options: ["--quiet", "--last", "1s"] + options,
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
            let truth = try scratch.truth()
            #expect(scratch.names == ["recording", "truth"])
            let report = try recorded.json()
            #expect(report.phases.map(\.name) == ["Attached"])
            #expect(report.phases.first?.wallNs == report.launch.wallNs)
            #expect(report.program.exitStatus == 0)
            let window = report.launch.notes.first { $0.kind == "window" }
            #expect(window?.value == 1_000_000_000)
            // Minus the time for which the recorder held the program.
            #expect(report.launch.wallNs <= 1_000_000_000)
            let folded = try recorded.folded()
            for stage in 0..<8 {
                let cpu = folded.nanoseconds(through: "stage\(stage)")
                let begun = try #require(truth["before\(stage)"])
                if stage < 7, let next = truth["before\(stage + 1)"], next > 1_100_000_000 {
                    #expect(begun > next && cpu == 0, "\(stage)")
                }
            }
        }

        /// A killed recorder leaves two recordings.
        @Test func aKilledRecorder() throws {
            try #require(mkfifo(scratch("there"), 0o600) == 0)
            let recorder = try Firstlight.recording(
                [try Setup.fixture("stages"), "400", scratch("there")], to: scratch("recording"),
                options: ["--quiet", "--last", "1s"]
            ).start()
            let there = try FileHandle(forReadingFrom: URL(fileURLWithPath: scratch("there")))
            #expect(there.availableData.count == 1)
            kill(recorder.pid, SIGKILL)
            _ = try recorder.finish()
            func left(_ name: String) -> Recorded {
                Recorded(
                    path: scratch(name),
                    finished: Finished(end: .signalled(SIGKILL), output: "", error: ""))
            }
            #expect(try left("recording.before").json().launch.slices > 0)
            #expect(try left("recording.before").text("fold").contains("stage"))
            // The second one may have begun less than a commit ago.
            #expect(try left("recording").json().program.name == "stages")
        }

        /// A running program, from the middle of its life until we end the recording.
        @Test func anAttach() throws {
            let sleeper = try Sleeper()
            let recorder = try Firstlight.command(
                ["attach", "-o", scratch("recording"), "--quiet", "--last", "1s", "\(sleeper.pid)"]
            ).start()
            try Proc.waitUntil("a part is full") { scratch.has("recording.before") }
            #expect(try Firstlight.run("stop", "\(recorder.pid)").status == 0)
            #expect(try recorder.finish() == Finished(end: .exited(0), output: "", error: ""))
            #expect(scratch.names == ["recording"])
            let report = try Recorded(
                path: scratch("recording"),
                finished: Finished(end: .exited(0), output: "", error: "")
            ).json()
            // Minus the time for which the recorder held the program to remove its code.
            #expect(0...1_000_000_000 ~= report.launch.wallNs)
            #expect(try sleeper.end().status == 0)
        }

        @Test func impossibleCombinationsWithLastAreRefused() throws {
            let short = try Firstlight.run("record", "--last", "900ms", "true")
            #expect(short.isRefusal(125, mentioning: "--last 1s"), "\(short)")
            try scratch.write("mine", to: "recording.before")
            let foreign = try Firstlight.run(
                "record", "-o", scratch("recording"), "--last", "1s", "true")
            #expect(foreign.isRefusal(125, mentioning: "recording.before"), "\(foreign)")
            #expect(scratch.names == ["recording.before"])
        }
    }
}
