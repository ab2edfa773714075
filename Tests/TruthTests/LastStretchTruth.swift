import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension Measured {
    /// `--last`: of a recording of any length, only the end is kept.
    @Suite struct LastStretch {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Eight stages of 400 ms: the last second has the last two, and a part of the previous
        /// one.
        @Test(arguments: [[], ["--follow-children"], ["--capture", "ptrace"]])
        func onlyTheEndIsKept(options: [String]) throws {
            try Truth.of((["--last"] + options).joined(separator: " ")) { figures in
                // Otherwise an older recording would be kept.
                for file in scratch.names { unlink(scratch(file)) }
                let recorded = try Firstlight.record(
                    [try Setup.fixture("stages"), "400"], in: scratch,
                    options: ["--quiet", "--last", "1s"] + options,
                    adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
                let truth = try scratch.truth()
                let report = try recorded.json()
                // Minus the time for which the recorder held the program.
                figures.check(
                    "window", report.launch.wallNs, truth: 1_000_000_000, tolerance: 100_000_000)
                let folded = try recorded.folded()
                for stage in 0..<8 {
                    let cpu = folded.nanoseconds(through: "stage\(stage)")
                    let begun = try #require(truth["before\(stage)"])
                    if begun < 900_000_000 {
                        let whole = try #require(truth["stage\(stage)"])
                        figures.check(
                            "stage \(stage)", cpu, truth: whole,
                            tolerance: max(whole / 20, 10_000_000))
                    }
                }
            }
        }

        /// A running program, from the middle of its life until we end the recording.
        @Test func anAttach() throws {
            try Truth.of("--last of an attach") { figures in
                let sleeper = try Sleeper()
                let recorder = try Firstlight.command(
                    ["attach", "-o", scratch("recording"), "--quiet", "--last", "1s"]
                        + ["\(sleeper.pid)"]
                ).start()
                try Proc.waitUntil("a part is full") { scratch.has("recording.before") }
                _ = try Firstlight.run("stop", "\(recorder.pid)")
                let report = try Recorded(path: scratch("recording"), finished: recorder.finish())
                    .json()
                _ = try sleeper.end()
                // Minus the time for which the recorder held the program to remove its code.
                figures.check(
                    "window", report.launch.wallNs, isIn: 900_000_000...1_000_000_000)
            }
        }
    }
}
