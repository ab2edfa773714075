import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension Measured {
    /// Recordings that end after a given time.
    @Suite struct Endings {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func report() throws -> LaunchReport {
            let finished = Finished(end: .exited(0), output: "", error: "")
            return try Recorded(path: scratch("recording"), finished: finished).json()
        }

        @Test func aRecordingMayEndBeforeItsProgram() throws {
            let program = [try Setup.fixture("spin"), "500000000"]
            try Truth.of("--duration") { figures in
                _ = try Firstlight.recording(
                    program, to: scratch("recording"), options: ["--duration", "200ms", "--quiet"]
                ).run()
                let report = try self.report()
                figures.check(
                    "duration", report.launch.wallNs, truth: 200_000_000, tolerance: 30_000_000)
            }
        }

        /// The kernel tells when each thread has ended. The program ends while one of its threads waits, so
        /// that this one needs a core to end on.
        @Test(
            .needs("perf"), .needs("sqlite3"),
            .requires(Schedule.wakeupsAreTold, "scheduler tracepoints cannot be read here"))
        func aLaunchEndsWithItsLastThread() throws {
            let program =
                "import threading; wait = threading.Event().wait; "
                + "[threading.Thread(target=wait, daemon=True).start() for _ in range(4)]"
            try Truth.of("the last thread's end") { figures in
                for _ in 0..<10 {
                    let recording = try Firstlight.recording(
                        ["python3", "-c", program], to: scratch("recording"), options: ["--quiet"])
                    let recorded = try Command(
                        [
                            "perf", "record", "-q", "-a", "-k", "mono", "-e",
                            "sched:sched_process_exit",
                        ]
                            + ["-o", scratch("events"), "--"] + recording.words
                    ).run()
                    try #require(recorded.status == 0, "\(recorded)")
                    let ends = try Command([
                        "perf", "script", "-i", scratch("events"), "--ns", "-F", "tid,time",
                    ]).run().output
                    let tids = Set(try report().threads.map { String($0.tid) })
                    let last = ends.split(separator: "\n").compactMap { line -> Int64? in
                        let words = line.split(separator: " ")
                        guard words.count > 1, tids.contains(String(words[0])) else { return nil }
                        return Int64(words[1].filter(\.isNumber))
                    }.max()
                    _ = try? FileManager.default.removeItem(atPath: scratch("tables"))
                    _ = try Firstlight.run(
                        "export", scratch("recording"), "--format", "sqlite", "-o",
                        scratch("tables"))
                    let ended = try Command([
                        "sqlite3", scratch("tables"), "select time_ns from marks where kind = 6",
                    ]).run().output
                    figures.check(
                        "launch's end", Int64(ended.filter(\.isNumber)), truth: last,
                        tolerance: 200_000)
                }
            }
        }

        /// The recording ends in the constructor.
        @Test func aRecordingThatEndsBeforeMain() throws {
            let program = [try Setup.fixture("groundtruth")]
            try Truth.of("--duration in a constructor") { figures in
                _ = try Firstlight.recording(
                    program, to: scratch("recording"), options: ["--duration", "30ms", "--quiet"],
                    adding: ["FIRSTLIGHT_TRUTH": scratch("truth")]
                ).run()
                let report = try self.report()
                figures.check(
                    "duration", report.launch.wallNs, truth: 30_000_000, tolerance: 20_000_000)
                // Without a core the program has not come as far, or goes on longer than it should.
                figures.check(
                    "it ends in the constructor",
                    isSo: report.phaseNames.last == "Static initialisers")
            }
        }
    }
}
