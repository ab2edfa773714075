import EndToEndSupport
import Glibc
import TestSupport
import Testing

extension EndToEnd {
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
            #expect(result.status == 0 && result.error == "", "\(result)")
            let truth = try scratch.truth()
            return Figures(
                calls: try #require(truth["calls"]),
                interrupted: try #require(truth["interrupted"]),
                asleep: try #require(truth["asleep"]))
        }

        /// How many are interrupted, and how long they last, is measured by `make truth`.
        @Test(arguments: kinds) func everyCallIsMade(kind: String) throws {
            let alone = try run(kind, calls: 20, work: 400, isRecorded: false)
            #expect(alone.interrupted == 0)
            let recorded = try run(kind, calls: 60, work: 400, isRecorded: true)
            #expect(recorded.calls == 60 && recorded.asleep > 0)
        }

        /// The fixture prints how many of its calls were interrupted while they slept.
        @Test func aThreadThatStaysBlockedIsLeftAlone() throws {
            let report = try SideBySide(scratch: scratch).compare(fixture: ["blocking", "stay"])
            #expect(report.threads.count == 10)
        }
    }
}
