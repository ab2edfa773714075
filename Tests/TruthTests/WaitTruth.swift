import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension Measured {
    /// How long threads waited, compared with what the program itself knows.
    @Suite struct Waits {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        @Test(arguments: [
            "mutex", "rwlock", "semaphore", "condition", "join", "pipe", "fifo", "connect",
            "receive",
            "accept", "unix", "nanosleep", "poll", "epoll", "select", "child", "any", "flock",
            "signal",
            "lease",
        ])
        func lengths(name: String) throws {
            try Truth.of("wait: \(name)") { try attempt(name, &$0) }
        }

        private func attempt(_ name: String, _ figures: inout Truth) throws {
            let recorded = try Firstlight.record(
                [try Setup.fixture("waits"), name], in: scratch,
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
            let report = try recorded.json()
            let truth = try scratch.truth()[name]
            let waits = report.events.filter { event in
                event.tid == report.program.pid
                    && event.stack.contains { $0.function == "wait_in_\(name)" }
            }
            // Within 2 ms or 2 %.
            figures.check(
                name, waits.map(\.durationNs).max(), truth: truth,
                tolerance: max(2_000_000, (truth ?? 0) / 50))
        }
    }
}
