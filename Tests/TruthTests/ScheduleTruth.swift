import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension Measured {
    /// The report's values from the kernel's scheduler: runs, wake-ups and the critical path.
    @Suite struct Schedule {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private struct Report: Decodable {
            struct Launch: Decodable {
                var wallNs: Int64
                var scheduler: String?
            }

            struct Segment: Decodable {
                struct Frame: Decodable {
                    var function: String
                }

                var tid: Int64
                var startNs: Int64
                var durationNs: Int64
                var state: String?
                var stack: [Frame]
                var wokenByTid: Int64?
            }

            var program: LaunchReport.Program
            var launch: Launch
            var threads: [LaunchReport.Thread]
            var criticalPath: [Segment]
        }

        private func report(_ recorded: Recorded, _ options: String...) throws -> Report {
            let text = try recorded.text(
                "report", ["--format", "json", "--with", "events,timeline"] + options)
            return try JSONDecoder().decode(Report.self, from: Data(text.utf8))
        }

        private func record(_ fixture: String) throws -> (Recorded, [String: Int64]) {
            let recorded = try Firstlight.record(
                [try Setup.fixture(fixture)], in: scratch,
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
            return (recorded, try scratch.truth())
        }

        /// The main thread waits for B, and B waits for C.
        @Test(.requires(wakeupsAreTold, "scheduler tracepoints cannot be read here"))
        func theCriticalPathOfAChain() throws {
            try Truth.of("critical path of a chain") { figures in
                let (recorded, truth) = try record("chain")
                let report = try report(recorded)
                // A thread's time may be in several pieces, if it waited for a core.
                let long = report.criticalPath.filter { $0.durationNs > 15_000_000 }
                let turns = long.reduce(into: [[Report.Segment]]()) { turns, segment in
                    let isSame = turns.last?.last?.tid == segment.tid
                    if isSame {
                        turns[turns.count - 1].append(segment)
                    } else {
                        turns += [[segment]]
                    }
                }
                let ids = ["main_tid", "c_tid", "b_tid", "main_tid"].map { truth[$0] }
                let isInOrder = turns.map { $0.first?.tid } == ids
                figures.check("main, C, B, main", isSo: isInOrder)
                guard isInOrder else { return }
                for (turn, name) in zip(turns.dropFirst(), ["c", "b", "tail"]) {
                    let length = turn.reduce(0) { $0 + $1.durationNs }
                    // Two milliseconds or two per cent.
                    figures.check(
                        name, length, truth: truth[name],
                        tolerance: max(2_000_000, (truth[name] ?? 0) / 50))
                }
            }
        }

        /// Two threads on one core, compared with the kernel's own figures.
        @Test(.requires(wakeupsAreTold, "scheduler tracepoints cannot be read here"))
        func statesAreTheKernelsOwn() throws {
            try Truth.of("states by the kernel") { figures in
                let (recorded, truth) = try record("pinned")
                let report = try report(recorded)
                let stored = try Command([
                    "sqlite3", recorded.path, "select held_ns from header",
                ]).run()
                let held = try #require(Int64(stored.output.split(separator: "\n").first ?? ""))
                // Time that a hypervisor takes from a core counts as running in the switches, but
                // not at all in the kernel's sums. 5 % are still little, compared with real errors.
                func tolerance(_ truth: Int64) -> Int64 { max(3_000_000, truth * 5 / 100) }
                for name in ["first", "second"] {
                    let thread = report.threads.first { Int64($0.tid) == truth["\(name)_tid"] }
                    let run = truth["\(name)_run"]
                    figures.check(
                        "\(name) ran", thread?.runningNs, truth: run,
                        tolerance: tolerance(run ?? 0))
                    // The kernel does not count the profiler's own stops of both threads.
                    let waited = thread.map { $0.runnableNs + $0.preemptedNs } ?? -1
                    let delay = truth["\(name)_delay"] ?? 0
                    let range = delay - tolerance(delay)...delay + tolerance(delay) + held
                    figures.check("\(name) waited", waited, isIn: range)
                    // The thread sleeps thirty times, and is preempted in between.
                }
            }
        }

        /// The same run, compared with perf.
        @Test(
            .needs("perf"), .needs("python3"), .needs("taskset"),
            .requires(wakeupsAreTold, "scheduler tracepoints cannot be read here"))
        func perfAgrees() throws {
            let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../Benchmarks/timehist.py").path
            var words = ["python3", script, try Setup.path(.firstlight)]
            words.append(try Setup.fixture("pinned"))
            try Truth.of("states by perf") { figures in
                let result = try Command(words).run()
                // Status 77: perf itself does not work here, or has missed switches.
                if result.status == 77 { try Setup.skip(result.output) }
                try #require(
                    result.status == 0 || result.output.contains("DIFFERS"), "\(result)")
                figures.check("perf agrees", isSo: result.status == 0)
            }
        }

        private static var switchesAreTold: Bool { paranoia.map { $0 <= 2 } ?? false }

        static var wakeupsAreTold: Bool {
            // Mounted or not.
            let systems = try? String(contentsOfFile: "/proc/filesystems", encoding: .utf8)
            return Setup.isRoot && systems?.contains("\ttracefs\n") == true
        }

        private static var paranoia: Int? {
            let text = try? String(
                contentsOfFile: "/proc/sys/kernel/perf_event_paranoid", encoding: .utf8)
            return text.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        }
    }
}
