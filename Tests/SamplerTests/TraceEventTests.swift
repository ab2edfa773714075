import Glibc
import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

/// Wait statuses as ptrace(2) and wait(2) define them.
@Suite struct TraceEventTests {
    private static func stop(_ signal: Int32, event: Int32 = 0) -> Int32 {
        event << 16 | signal << 8 | 0x7F
    }

    private static let table: [(Int32, TraceEvent?)] = [
        (0x0000, .exited(status: 0)), (0x0100, .exited(status: 1)), (0xFF00, .exited(status: 255)),
        (9, .killed(signal: 9)), (11, .killed(signal: 11)), (0x80 | 6, .killed(signal: 6)),
        (0x7E, .killed(signal: 0x7E)),
        (stop(5), .signal(5)), (stop(17), .signal(17)), (stop(19), .signal(19)),
        (stop(64), .signal(64)),
        (stop(5, event: 3), .cloned), (stop(5, event: 4), .executed), (stop(5, event: 6), .exiting),
        (stop(5, event: 128), .stopped), (stop(19, event: 128), .groupStop(signal: 19)),
        (stop(20, event: 128), .groupStop(signal: 20)),
        (stop(22, event: 128), .groupStop(signal: 22)),
        // Not requested: fork, vfork, seccomp.
        (stop(5, event: 1), .forked), (stop(5, event: 2), .forked), (stop(5, event: 7), nil),
    ]

    @Test(arguments: table)
    func decoding(status: Int32, event: TraceEvent?) {
        #expect(TraceEvent(status: status) == event)
    }

    @Test func realEnds() throws {
        let exited = try Child(["sh", "-c", "exit 3"])
        #expect(TraceEvent(status: exited.end()) == .exited(status: 3))
        let killed = try Child(["sh", "-c", "kill -9 $$"])
        #expect(TraceEvent(status: killed.end()) == .killed(signal: 9))
    }

    @Test func noStatusIsATrap() {
        var random = SeededNumbers(seed: 13)
        for _ in 0..<10_000 {
            _ = TraceEvent(status: Int32(truncatingIfNeeded: random.next()))
        }
    }
}
