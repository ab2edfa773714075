import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// What is known from the kernel's scheduler: runs, wake-ups and the critical path.
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

        /// Segments follow each other from the launch's start to the main thread's end.
        private func expectTiling(_ report: Report) {
            var end: Int64 = 0
            for segment in report.criticalPath {
                #expect(segment.startNs == end && segment.durationNs > 0)
                end = segment.startNs + segment.durationNs
            }
            let main = report.threads.first { $0.tid == report.program.pid }
            #expect(end == main?.endNs)
        }

        /// The main thread waits for B, and B waits for C.
        @Test(.alone, .requires(wakeupsAreTold, "scheduler tracepoints cannot be read here"))
        func theCriticalPathOfAChain() throws {
            try Misses.afterAttempts {
                let (recorded, truth) = try record("chain")
                let report = try report(recorded)
                #expect(report.launch.scheduler == "wakeups")
                expectTiling(report)
                let text = try recorded.text("report", ["--view", "critical-path"])
                #expect(text.contains("LONGEST") && text.contains("indented"), "\(text)")
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
                try #require(turns.map { $0.first?.tid } == ids, "\(report.criticalPath)")
                var misses = Misses()
                for (turn, name) in zip(turns.dropFirst(), ["c", "b", "tail"]) {
                    let length = turn.reduce(0) { $0 + $1.durationNs }
                    // Two milliseconds or two per cent.
                    misses.check(
                        name, length, truth: truth[name],
                        tolerance: max(2_000_000, (truth[name] ?? 0) / 50))
                    #expect(turn.contains { $0.stack.contains { $0.function == "compute" } })
                }
                #expect(turns[2].first?.wokenByTid == truth["c_tid"])
                #expect(turns[3].first?.wokenByTid == truth["b_tid"])
                return misses
            }
        }

        /// Without privileges the kernel reports when threads have cores, but not who woke whom.
        @Test(
            .needsRoot, .needs("setpriv"),
            .requires(switchesAreTold, "kernel.perf_event_paranoid forbids it"))
        func withoutPrivileges() throws {
            chmod(scratch.folder, 0o777)
            for (name, path) in [
                ("firstlight", try Setup.path(.firstlight)), ("chain", try Setup.fixture("chain")),
            ] {
                try FileManager.default.copyItem(atPath: path, toPath: scratch(name))
            }
            let finished = try Command([
                "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
                "--bounding-set=-all", scratch("firstlight"), "record", "--quiet", "-o",
                scratch("recording"), scratch("chain"),
            ]).run()
            #expect(finished.status == 0, "\(finished)")
            let recorded = Recorded(path: scratch("recording"), finished: finished)
            let report = try report(recorded)
            #expect(report.launch.scheduler == "switches")
            expectTiling(report)
            #expect(Set(report.criticalPath.map(\.tid)).count == 1)
            #expect(report.criticalPath.contains { $0.state == "blocked" })
            let text = try recorded.text("report", ["--view", "critical-path"])
            #expect(text.contains("from the main thread alone"), "\(text)")
        }

        @Test func notWhereItWasSwitchedOff() throws {
            let recorded = try Firstlight.record(
                [try Setup.fixture("chain")], in: scratch, options: ["--switches", "off"])
            let report = try report(recorded)
            #expect(report.launch.scheduler == nil)
            expectTiling(report)
            #expect(Set(report.criticalPath.map(\.tid)).count == 1)
        }

        /// Two threads on one core, compared with the kernel's own figures.
        @Test(.alone, .requires(wakeupsAreTold, "scheduler tracepoints cannot be read here"))
        func statesAreTheKernelsOwn() throws {
            try Misses.afterAttempts {
                let (recorded, truth) = try record("pinned")
                let report = try report(recorded)
                let stored = try Command([
                    "sqlite3", recorded.path, "select held_ns from header",
                ]).run()
                let held = try #require(Int64(stored.output.split(separator: "\n").first ?? ""))
                var misses = Misses()
                // Time that a hypervisor takes from a core counts as running in the switches, but
                // not at all in the kernel's sums. 5 % are still little, compared with real errors.
                func tolerance(_ truth: Int64) -> Int64 { max(3_000_000, truth * 5 / 100) }
                for name in ["first", "second"] {
                    let thread = report.threads.first { Int64($0.tid) == truth["\(name)_tid"] }
                    let run = truth["\(name)_run"]
                    misses.check(
                        "\(name) ran", thread?.runningNs, truth: run,
                        tolerance: tolerance(run ?? 0))
                    // The kernel does not count the profiler's own stops of both threads.
                    let waited = thread.map { $0.runnableNs + $0.preemptedNs } ?? -1
                    let delay = truth["\(name)_delay"] ?? 0
                    let range = delay - tolerance(delay)...delay + tolerance(delay) + held
                    if !(range ~= waited) {
                        misses.add("\(name) waited: \(waited), not \(delay) ns, held \(held)")
                    }
                    // The thread sleeps thirty times, and is preempted in between.
                    #expect(thread.map { $0.runnableNs > 0 && $0.preemptedNs > 0 } == true)
                }
                return misses
            }
        }

        /// The same run, compared with perf.
        @Test(
            .alone,
            .needs("perf"), .needs("python3"), .needs("taskset"),
            .requires(wakeupsAreTold, "scheduler tracepoints cannot be read here"))
        func perfAgrees() throws {
            let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../Benchmarks/timehist.py").path
            var words = ["python3", script, try Setup.path(.firstlight)]
            words.append(try Setup.fixture("pinned"))
            try Misses.afterAttempts {
                let result = try Command(words).run()
                // Status 77: perf itself does not work here, or has missed switches.
                if result.status == 77 { try Setup.skip(result.output) }
                #expect(result.status == 0 || result.output.contains("DIFFERS"), "\(result)")
                var misses = Misses()
                if result.status != 0 { misses.add(result.output) }
                return misses
            }
        }

        private static var switchesAreTold: Bool { paranoia.map { $0 <= 2 } ?? false }

        static var wakeupsAreTold: Bool {
            Setup.isRoot
                && access("/sys/kernel/tracing/events/sched/sched_waking/format", R_OK) == 0
        }

        private static var paranoia: Int? {
            let text = try? String(
                contentsOfFile: "/proc/sys/kernel/perf_event_paranoid", encoding: .utf8)
            return text.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        }
    }
}
