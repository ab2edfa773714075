import EndToEndSupport
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// The recorder is killed, without a chance to clean up. The program goes on, unharmed, and the
    /// file can be read, or the report says why not.
    @Suite struct KilledRecorder {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// What became of a program whose recorder was killed.
        private struct Orphan {
            var output: String
            var truth: [String: Int64]
        }

        // What programs do alone, run once for all tests.
        private static let groundTruthAlone = Result {
            try Command([Setup.fixture("groundtruth")]).run()
        }
        private static let starsAlone = Result {
            try Command([Setup.star("starsearcher")]).run()
        }

        /// Kills the recorder once the program's main thread has used `cpu` nanoseconds, or as soon
        /// as the program exists.
        private func kill(
            recorderOf program: String, afterCPU cpu: Int64?, adding variables: [String: String]
        ) throws -> Orphan {
            let output = try Channel()
            var command = try Firstlight.recording(
                [program], to: scratch("recording"), adding: variables)
            command.output = output.writer
            let child = try command.start()
            output.closeWriter()
            if let cpu {
                let pid = try Proc.recordedProgram(of: child.pid, running: program)
                try Proc.waitUntil("\(cpu) ns of CPU time") {
                    // It may have ended already.
                    [nil, "Z", "X"].contains(Proc.state(pid)) || Proc.cpuTime(pid) ?? 0 >= cpu
                }
            } else {
                try Proc.waitUntil("the child") { !Proc.children(of: child.pid).isEmpty }
            }
            Glibc.kill(child.pid, SIGKILL)
            let end = try child.finish().end
            #expect(end == .signalled(SIGKILL) || end == .exited(0))
            let rest = try output.rest()
            return Orphan(output: rest, truth: (try? scratch.truth()) ?? [:])
        }

        /// The file is a recording, or still empty.
        private func checkWhatIsLeft() throws {
            let report = try Firstlight.run("report", scratch("recording"))
            let isRead = report.status == 0 && report.error == "" && !report.output.isEmpty
            let saysWhy =
                report.isRefusal(1, mentioning: "No such file")
                || report.isRefusal(1, mentioning: "empty")
                // The recorder was killed while it made the tables.
                || report.isRefusal(1, mentioning: "header: the table is missing")
            #expect(isRead || saysWhy, "\(report)")
            for file in scratch.names { unlink(scratch(file)) }
        }

        /// CPU times: from the program's start, through the constructor (the first ~80 ms) and
        /// `main`.
        static var moments: [Int64?] {
            let constructor = (0..<5).map { Int64($0) * 16_000_000 }
            let main = (0..<5).map { 80_000_000 + Int64($0) * 50_000_000 }
            return [nil] + constructor + main
        }

        @Test(arguments: moments)
        func theProgramGoesOn(cpu: Int64?) throws {
            let program = try Setup.fixture("groundtruth")
            let alone = try Self.groundTruthAlone.get()
            let orphan = try kill(
                recorderOf: program, afterCPU: cpu,
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
            if cpu != nil || !orphan.output.isEmpty {
                #expect(orphan.output == alone.output)
                #expect(orphan.truth["main_wall"] != nil)
            }
            try checkWhatIsLeft()
        }

        /// The recorder is killed within the slow initialiser, when breakpoints are set that `main`
        /// would hit.
        @Test(arguments: [0, 20_000_000, 150_000_000, 300_000_000] as [Int64])
        func breakpointsDoNotOutliveIt(cpu: Int64) throws {
            let program = try Setup.star("starsearcher")
            let alone = try Self.starsAlone.get()
            let orphan = try kill(
                recorderOf: program, afterCPU: cpu,
                adding: ["STARSEARCHER_TRUTH": scratch("truth")])
            #expect(alone.status == 0 && orphan.output == alone.output)
            #expect(orphan.truth["main_wall"] != nil)
            try checkWhatIsLeft()
        }

        /// Programs whose threads end and that make processes, after their recorder was killed.
        @Test func threadsAndChildrenGoOn() throws {
            for words in [["churn", "3000"], ["forkers", "spawn", "500"]] {
                let program = try Setup.fixture(words[0])
                let launch = [program] + words.dropFirst()
                let alone = try Command(launch).run()
                let output = try Channel()
                var command = try Firstlight.recording(launch, to: scratch("recording"))
                command.output = output.writer
                let child = try command.start()
                output.closeWriter()
                let pid = try Proc.recordedProgram(of: child.pid, running: program)
                try Proc.waitUntil("its work") {
                    Proc.tasks(pid).count > 1 || !Proc.children(of: pid).isEmpty
                        || Proc.state(pid) == nil
                }
                Glibc.kill(child.pid, SIGKILL)
                _ = try child.finish()
                #expect(try output.rest() == alone.output)
                try checkWhatIsLeft()
            }
        }

        /// The main thread's CPU time when the program runs alone.
        private func mainThreadCPU(of program: String) throws -> Int64 {
            let child = try Command([program]).start()
            try #require(child.waitUntilEnded())
            // The zombie still tells its time.
            let cpu = Proc.cpuTime(child.pid)
            #expect(try child.finish().status == 0)
            return try #require(cpu)
        }

        /// A kill costs only the half-second since the last commit. The program's length depends on
        /// the machine: the kill comes after three fifths of it.
        @Test func committedDataSurvivesAKill() throws {
            let program = try Setup.star("starsearcher")
            let used = try mainThreadCPU(of: program) * 6 / 10
            _ = try kill(
                recorderOf: program, afterCPU: used,
                adding: ["STARSEARCHER_TRUTH": scratch("truth")])
            let report = try Recorded(
                path: scratch("recording"),
                finished: Finished(end: .signalled(SIGKILL), output: "", error: "")
            ).json()
            #expect(report.launch.cpuNs > 0)
            #expect(report.program.exitStatus == nil && report.program.signal == nil)
            #expect(report.phases.reduce(0) { $0 + $1.wallNs } == report.launch.wallNs)
            // The initialiser had ended long before.
            let logger = report.totalCPU(of: "SuperfastLogger::warmUp")
            #expect(logger > 0)
        }
    }
}
