import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension Measured {
    /// A kill of the recorder costs only the half-second since the last commit.
    @Suite struct KilledRecorder {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// The main thread's CPU time when the program runs alone.
        private func mainThreadCPU(of program: String) throws -> Int64 {
            let child = try Command([program]).start()
            try #require(child.waitUntilEnded())
            // The zombie still tells its time.
            let cpu = Proc.cpuTime(child.pid)
            _ = try child.finish()
            return try #require(cpu)
        }

        /// The program's length depends on the machine: the kill comes after three fifths of it.
        @Test func mostOfALongRecordingIsKept() throws {
            let program = try Setup.star("starsearcher")
            let used = try mainThreadCPU(of: program) * 6 / 10
            try Truth.of("a killed recorder") { figures in
                let output = try Channel()
                var command = try Firstlight.recording(
                    [program], to: scratch("recording"),
                    adding: ["STARSEARCHER_TRUTH": scratch("truth")])
                command.output = output.writer
                let recorder = try command.start()
                output.closeWriter()
                let pid = try Proc.recordedProgram(of: recorder.pid, running: program)
                try Proc.waitUntil("\(used) ns of CPU time") {
                    [nil, "Z", "X"].contains(Proc.state(pid)) || Proc.cpuTime(pid) ?? 0 >= used
                }
                kill(recorder.pid, SIGKILL)
                let finished = try recorder.finish()
                _ = try output.rest()
                let report = try Recorded(path: scratch("recording"), finished: finished).json()
                figures.check("kept", report.launch.cpuNs, isIn: used / 3...Int64.max)
                // The initialiser had ended long before.
                let truth = try #require(try scratch.truth()["logger_initialiser_cpu"])
                figures.check(
                    "initialiser", report.totalCPU(of: "SuperfastLogger::warmUp"),
                    isIn: truth * 8 / 10...Int64.max)
            }
        }
    }
}
