import EndToEndSupport
import Glibc
import TestSupport
import Testing

extension Measured {
    /// Blocking calls end as they do without recording, and last as long.
    @Suite struct Interruption {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        static let kinds = [
            "nanosleep", "poll", "epoll_wait", "select", "semtimedop", "futex", "read", "accept",
        ]

        /// The program's own figures.
        private struct Figures {
            var calls: Int64
            var interrupted: Int64
            var asleep: Int64
        }

        /// - Parameter work: how long it computes between calls, in microseconds.
        private func run(
            _ kind: String, calls: Int, work: Int, isRecorded: Bool
        ) throws -> Figures {
            let program = [try Setup.fixture("blocking"), kind, String(calls), String(work)]
            let variables = ["FIRSTLIGHT_TRUTH": scratch("truth")]
            let command =
                isRecorded
                ? try Firstlight.recording(
                    program, to: scratch("recording"),
                    options: ["--quiet"] + Firstlight.defaultCapture, adding: variables)
                : Command(program, adding: variables)
            let result = try command.run()
            try #require(result.status == 0, "\(result)")
            let truth = try scratch.truth()
            return Figures(
                calls: try #require(truth["calls"]),
                interrupted: try #require(truth["interrupted"]),
                asleep: try #require(truth["asleep"]))
        }

        /// Of a hundred calls one at most.
        private func checkInterruptions(_ runs: [Figures], _ figures: inout Truth) {
            let interrupted = runs.reduce(0) { $0 + $1.interrupted }
            let calls = runs.reduce(0) { $0 + $1.calls }
            figures.check(
                "interrupted", Double(interrupted), unit: "calls", truth: 0,
                most: Double(calls) / 100)
        }

        /// The calls follow work that a sample is likely to hit, so the sample may end in the call.
        @Test(arguments: kinds) func aCallInAHundredIsInterruptedAtMost(kind: String) throws {
            try Truth.of("calls after work: \(kind)") { figures in
                let recorded = try run(kind, calls: 600, work: 400, isRecorded: true)
                checkInterruptions([recorded], &figures)
            }
        }

        /// If anything wakes a core a thousand times a second, the core wakes sleepers faster, by 1
        /// % of a millisecond. So a run is compared with one next to such a process.
        private func runInCompany(_ kind: String, calls: Int, work: Int) throws -> Figures {
            let company = try Command(
                [try Setup.fixture("blocking"), "nanosleep", "100000", "0"]
            ).start()
            defer {
                kill(company.pid, SIGKILL)
                _ = try? company.finish()
            }
            return try run(kind, calls: calls, work: work, isRecorded: false)
        }

        /// The process runs a thousand times a second, as nearly as possible.
        @Test(arguments: kinds) func callsLastAsLongAsAlone(kind: String) throws {
            try Truth.of("sleeps: \(kind)") { figures in
                var (quiet, accompanied, watched): ([Figures], [Figures], [Figures]) = ([], [], [])
                for _ in 1...3 {
                    quiet.append(try run(kind, calls: 150, work: 50, isRecorded: false))
                    watched.append(try run(kind, calls: 150, work: 50, isRecorded: true))
                    accompanied.append(try runInCompany(kind, calls: 150, work: 50))
                }
                checkInterruptions(watched, &figures)
                let all = [quiet, accompanied, watched].map { $0.map(\.asleep) }
                // Without recording, runs differ by the machine's noise, and the other process
                // alone shortens sleeps by about 1 %. A thread that events sample wakes some 0.03
                // ms later, because the kernel sets a timer whenever the thread gets a core.
                let alone = (all[0] + all[1]).sorted()
                let median = all[2].sorted()[1]
                figures.check(
                    "asleep", median, isIn: alone[0] * 99 / 100...alone[alone.count - 1] * 105 / 100
                )
            }
        }
    }
}
