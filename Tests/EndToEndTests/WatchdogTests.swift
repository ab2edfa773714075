import EndToEndSupport
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// Launches that are not over in time.
    @Suite struct Watchdog {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        @Test func aDeadlock() throws {
            let result = try Firstlight.recording(
                [try Setup.fixture("deadlock")], to: scratch("recording"),
                options: ["--quiet", "--until", "listen", "--watchdog", "500ms"],
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")]
            ).run()
            #expect(result.status == 124)
            let truth = try scratch.truth()
            let (main, other) = (
                try #require(truth["main_thread"]), try #require(truth["second_thread"])
            )
            let (first, second) = (
                try #require(truth["first_lock"]), try #require(truth["second_lock"])
            )
            func hex(_ address: Int64) -> String { "0x" + String(address, radix: 16) }
            #expect(result.error.contains("not ready within 500.0 ms (waited for: listen)"))
            #expect(
                result.error.contains(
                    "Thread \(main) 'deadlock', main: waits for the mutex at \(hex(second)), which "
                        + "thread \(other) 'other' holds\n"))
            #expect(
                result.error.contains(
                    "Thread \(other) 'other': waits for the mutex at \(hex(first)), which thread "
                        + "\(main) 'deadlock' holds\n"))
            // Innermost first, with function and line.
            let stacks = result.error.split(separator: "\nThread ")
            #expect(stacks.count == 3)
            #expect(
                stacks.contains {
                    $0.contains(#/take_second in deadlock \(.*deadlock\.c:\d+\)\n    ● main in/#)
                })
            #expect(
                stacks.contains {
                    $0.contains(#/take_first in deadlock \(.*deadlock\.c:\d+\)\n    ● other in/#)
                })
            let recorded = Recorded(path: scratch("recording"), finished: result)
            let report = try recorded.json()
            #expect(report.threads.count == 2)
            let finding = try #require(report.findings.first)
            #expect(finding.kind == "deadlock")
            #expect(finding.title.contains("waits for mutex second, which other"), "\(finding)")
            #expect(finding.title.contains("waits for mutex first, which main thread deadlock"))
            #expect(finding.details.contains { $0.contains(" waits in take_first deadlock.c:") })
        }

        @Test func aProgramThatComputesIsKept() throws {
            let child = try Firstlight.recording(
                [try Setup.fixture("ready"), "never"], to: scratch("recording"),
                options: ["--quiet", "--until", "notify", "--watchdog", "200ms", "--after", "keep"]
            ).start()
            let program = try Setup.fixture("ready")
            let pid = try Proc.recordedProgram(of: child.pid, running: program)
            try Proc.waitUntil("the recording's end") {
                scratch.has("recording-journal") == false
                    && scratch.has("recording") && !Proc.isTraced(pid)
                    && Proc.contents("/proc/\(pid)/maps")?.contains("firstlight") == false
            }
            #expect("RS".contains(Proc.state(pid) ?? "?"))
            kill(pid, SIGKILL)
            let result = try child.finish()
            #expect(result.status == 124)
            #expect(result.error.contains("ready.c:"))
        }

        @Test func oneThatIsReadyInTime() throws {
            let result = try Firstlight.recording(
                [try Setup.fixture("ready"), "output", "ready"], to: scratch("recording"),
                options: ["--quiet", "--until", "output:ready", "--watchdog", "20s"]
            ).run()
            #expect(result.status == 0)
            #expect(result.output == "starting\nready now\n")
        }
    }
}
