import EndToEndSupport
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// The recorder is killed at any moment while our handler is in the program. The program goes
    /// on and ends as if nothing had happened.
    @Suite struct KilledSignalCapture {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Programs, and about how long each runs, in milliseconds.
        private static let programs: [(words: [String], length: Int)] = [
            (["groundtruth"], 600), (["urgent", "late", "100", "1"], 220),
            (["threadlife", "churn"], 300), (["preserved"], 200), (["masked", "work"], 200),
            (["threadlife", "exits"], 300), (["reexec"], 250), (["stacks", "coroutine"], 300),
            (["plugins"], 380), (["blocking", "stay", "300"], 320), (["timers", "storm"], 100),
            (["timers", "once"], 200), (["loading", "libplugin.so"], 90),
            (["loading", "libplugin.so", "fork"], 90),
        ]

        /// What happened to a program. The status is nil if it ended together with the recorder.
        private struct Outcome: Equatable {
            var output: String
            var status: Int32?
        }

        private static let killed = 128 + SIGKILL

        /// Kills the recorder `microseconds` after the program began.
        ///
        /// - Returns: what happened to the program, and whether it was seen before it ended.
        private func run(
            _ program: [String], killingAfter microseconds: Int
        ) throws -> (Outcome, wasSeen: Bool) {
            let (output, endings) = (try Channel(), try Channel())
            let recording = try Firstlight.recording(
                program, to: scratch("recording"), options: ["--quiet"] + Firstlight.defaultCapture)
            var command = Command([try Setup.fixture("adopter"), "3"] + recording.words)
            command.output = output.writer
            command.inherited = [endings.writer]
            let adopter = try command.start()
            output.closeWriter()
            endings.closeWriter()
            let recorder = try Proc.waitFor("the recorder") {
                Proc.children(of: adopter.pid).first
            }
            // On a busy machine it may begin and end between two checks.
            let pid: pid_t? = try Proc.waitFor("the start of \(program[0])") { () -> pid_t?? in
                if let pid = Proc.recorded(by: recorder, running: program[0]) { return pid }
                return Proc.children(of: adopter.pid).contains(recorder) ? nil : .some(nil)
            }
            // Nothing is synchronised by this wait: any moment is fine.
            usleep(UInt32(microseconds))
            if pid != nil { kill(recorder, SIGKILL) }
            let text = try output.rest()
            #expect(try adopter.finish(limit: 30).status == 0)
            let statuses = try statuses(in: endings.rest())
            if let status = pid.flatMap({ statuses[$0] }) {
                return (Outcome(output: text, status: status), true)
            }
            // The recorder has reaped the program, and passed its status on if it still could.
            let status = try #require(statuses[recorder])
            let passedOn = status == Self.killed ? nil : status
            return (Outcome(output: text, status: passedOn), pid != nil)
        }

        /// The `PID STATUS` lines of the adopting process.
        private func statuses(in text: String) throws -> [pid_t: Int32] {
            var statuses: [pid_t: Int32] = [:]
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ").compactMap { Int32($0) }
                try #require(words.count == 2)
                statuses[words[0]] = words[1]
            }
            return statuses
        }

        /// The file is a recording, or the report says in one line why not.
        private func checkWhatIsLeft() throws {
            let report = try Firstlight.run("report", scratch("recording"))
            let isRead = report.status == 0 && report.error == "" && !report.output.isEmpty
            #expect(isRead || report.isRefusal(1), "\(report)")
            for file in scratch.names { unlink(scratch(file)) }
        }

        @Test(arguments: programs.indices) func theProgramGoesOn(index: Int) throws {
            let (words, length) = Self.programs[index]
            let program = try words.enumerated().map { index, word in
                index == 0 || word.hasSuffix(".so") ? try Setup.fixture(word) : word
            }
            let alone = try Command(program).run()
            var numbers = SeededNumbers(seed: UInt64(index))
            var rounds = 0
            for _ in 1...6 where rounds < 2 {
                let moment = Int.random(in: 0..<length * 1000, using: &numbers)
                let (outcome, wasSeen) = try run(program, killingAfter: moment)
                if wasSeen { rounds += 1 }
                #expect(
                    outcome.output == alone.output
                        && outcome.status ?? alone.status == alone.status,
                    "\(outcome) of \(words), killed after \(moment) us")
                try checkWhatIsLeft()
            }
            #expect(rounds == 2, "It was over each time before anybody saw it.")
        }
    }
}
