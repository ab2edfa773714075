import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The reasons for threads' waits, and the awaited threads, compared with the program's own
    /// account.
    @Suite struct Waits {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// A kind of wait of `Fixtures/waits.c`, and its expected report.
        struct Expectation: Sendable, CustomTestStringConvertible {
            var name: String
            var kind: String
            /// The beginning of its detail.
            var detail: String?
            /// The name of the figure with the id of the awaited thread.
            var owner: String?
            var endedBy: String?

            var testDescription: String { name }

            init(
                _ name: String, _ kind: String, _ detail: String? = nil, owner: String? = nil,
                endedBy: String? = nil
            ) {
                self.name = name
                self.kind = kind
                self.detail = detail
                self.owner = owner
                self.endedBy = endedBy
            }
        }

        @Test(
            arguments: [
                Expectation(
                    "mutex", "lock", "mutex slow_mutex", owner: "holder", endedBy: "holder"),
                Expectation("rwlock", "lock", "read-write lock slow_rwlock", endedBy: "holder"),
                Expectation("semaphore", "condition", "semaphore slow_semaphore"),
                Expectation("condition", "condition", "condition variable slow_condition"),
                Expectation("join", "condition", "end of a thread", endedBy: "sleepy"),
                Expectation("pipe", "pipe"), Expectation("fifo", "pipe", "/tmp/waits-"),
                Expectation("connect", "socket", "127.0.0.1:"),
                Expectation("receive", "socket", "127.0.0.1:"),
                Expectation("accept", "socket", "listening on 127.0.0.1:"),
                Expectation("unix", "socket", "/tmp/waits-"),
                Expectation("nanosleep", "sleep", "clock_nanosleep 120 ms"),
                Expectation("poll", "poll", "3 descriptors: pipe, pipe, socket"),
                Expectation("epoll", "poll", "2 descriptors: "),
                Expectation("select", "poll", "1 descriptor: pipe"),
                Expectation(
                    "child", "child", "sleeper 120", owner: "child_id", endedBy: "sleeper 120"),
                Expectation("any", "child", "sleeper 120"),
                Expectation("flock", "lock", "/tmp/waits-"),
                Expectation("stopped", "stopped"), Expectation("signal", "signal"),
                Expectation("lease", "file", "/tmp/waits-"),
            ])
        func reasons(wanted: Expectation) throws {
            let recorded = try Firstlight.record(
                [try Setup.fixture("waits"), wanted.name], in: scratch,
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
            let report = try recorded.json()
            let figures = try scratch.truth()
            let waits = report.events.filter {
                $0.tid == report.program.pid && $0.isIn("wait_in_\(wanted.name)")
            }
            let wait = try #require(
                waits.max { $0.durationNs < $1.durationNs }, "no wait was reported")
            #expect(wait.reason.kind == wanted.kind)
            if let detail = wanted.detail {
                #expect(wait.reason.detail?.hasPrefix(detail) == true, "\(wait.reason)")
            }
            if let owner = wanted.owner {
                #expect(wait.reason.ownerTid.map(Int64.init) == figures[owner])
            }
            if let name = wanted.endedBy { #expect(wait.endedBy?.name == name) }
        }

        @Test func viewsShowWaits() throws {
            let recorded = try Firstlight.record(
                [try Setup.fixture("waits"), "mutex", "nanosleep"], in: scratch)
            let events = try recorded.text("report", ["--view", "events"], columns: 200)
            #expect(events.contains("lock: mutex slow_mutex"))
            #expect(events.contains("holder ("))
            #expect(events.contains("wait_in_mutex ← main"))
            let long = try recorded.text(
                "report", ["--view", "events", "--min-duration", "10s"], columns: 200)
            #expect(long.contains("no thread was blocked for 10.00 s or longer"))
            let timeline = try recorded.text("report", ["--view", "timeline"])
            #expect(timeline.contains("·····") && timeline.contains("holder ("))
            let folded = try recorded.text("fold", ["--weight", "blocked"])
            #expect(folded.contains("wait_in_mutex"))
            #expect(folded.contains("[lock: mutex slow_mutex]") && folded.contains("[sleep]"))
        }

        @Test func timelinesAddUp() throws {
            // The scheduler's events have gaps: they begin when a thread is found.
            let recorded = try Firstlight.record(
                [try Setup.fixture("waits"), "poll"], in: scratch,
                options: ["--quiet", "--switches", "off"])
            let report = try recorded.json()
            #expect(report.timeline.count == report.threads.count)
            for (thread, lane) in zip(report.threads, report.timeline) {
                #expect(thread.tid == lane.tid)
                var sums: [String: Int64] = [:]
                for run in lane.runs { sums[run.state, default: 0] += run.length }
                #expect(sums["running", default: 0] == thread.runningNs)
                #expect(sums["blocked", default: 0] == thread.blockedNs)
            }
            #expect(report.priorities.contains { $0.tid == report.program.pid && $0.nice != nil })
        }
    }
}

extension LaunchReport.Event {
    fileprivate func isIn(_ function: String) -> Bool {
        stack.contains { $0.function == function }
    }
}
