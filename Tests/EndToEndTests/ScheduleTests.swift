import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
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
        @Test(.requires(wakeupsAreTold, "scheduler tracepoints cannot be read here"))
        func theCriticalPathOfAChain() throws {
            let (recorded, truth) = try record("chain")
            let report = try report(recorded)
            #expect(report.launch.scheduler == "wakeups")
            expectTiling(report)
            let text = try recorded.text("report", ["--view", "critical-path"])
            #expect(text.contains("LONGEST") && text.contains("indented"), "\(text)")
            // How long each is on the path depends on the machine, but not in which order they are.
            let ids = ["main_tid", "c_tid", "b_tid", "main_tid"].map { truth[$0] }
            let computing = report.criticalPath.filter { segment in
                segment.stack.contains { $0.function == "compute" }
            }
            var order: [Int64] = []
            for segment in computing where order.last != segment.tid { order.append(segment.tid) }
            let last = try #require(ids.last ?? nil)
            #expect(order.last == last)
            let (c, b) = (try #require(ids[1]), try #require(ids[2]))
            let places = (order.firstIndex(of: c), order.firstIndex(of: b))
            #expect(places.0.map { first in places.1.map { first < $0 } } == true, "\(order)")
            #expect(report.criticalPath.contains { $0.tid == b && $0.wokenByTid == c })
            #expect(report.criticalPath.contains { $0.tid == last && $0.wokenByTid == b })
        }

        /// tracefs is not mounted, and is not after the recording.
        @Test(
            .needs("unshare"),
            .requires(wakeupsAreTold, "scheduler tracepoints cannot be read here"))
        func whereTracingIsNotMounted() throws {
            let script = """
                umount --quiet --recursive /sys/kernel/debug /sys/kernel/tracing
                "$@"; status=$?
                grep --count ' tracefs ' /proc/self/mounts
                exit $status
                """
            let recording = try Firstlight.recording(
                [try Setup.fixture("chain")], to: scratch("recording"), options: ["--quiet"])
            let finished = try Command(
                ["unshare", "--mount", "sh", "-c", script, "sh"] + recording.words
            ).run()
            #expect(finished.output == "0\n", "\(finished)")
            let recorded = Recorded(path: scratch("recording"), finished: finished)
            #expect(try report(recorded).launch.scheduler == "wakeups")
        }

        /// Without privileges the kernel reports when threads have cores, but not which thread woke
        /// which.
        @Test(
            .needsRoot, .needs("setpriv"),
            .requires(switchesAreTold, "kernel.perf_event_paranoid forbids it"))
        func withoutPrivileges() throws {
            chmod(scratch.folder, 0o777)
            for (name, path) in [
                ("firstlight", try Setup.path(.firstlight)), ("chain", try Setup.fixture("chain")),
            ] {
                try Scratch.copyItem(atPath: path, toPath: scratch(name))
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

        /// Two threads on one core.
        @Test(.requires(wakeupsAreTold, "scheduler tracepoints cannot be read here"))
        func threadsOfOneCoreWaitForIt() throws {
            let (recorded, truth) = try record("pinned")
            let report = try report(recorded)
            for name in ["first", "second"] {
                let thread = report.threads.first { Int64($0.tid) == truth["\(name)_tid"] }
                // The thread sleeps thirty times, and is preempted in between.
                #expect(thread.map { $0.runnableNs > 0 && $0.preemptedNs > 0 } == true)
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
