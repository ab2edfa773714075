import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// `firstlight stop`: the recording ends, and the program goes on.
    @Suite struct Stopping {
        private let scratch: Scratch

        init() throws {
            scratch = try Scratch()
            for name in ["there", "more"] { try #require(mkfifo(scratch(name), 0o600) == 0) }
        }

        /// The program says that it has begun, waits for a line, and ends with a particular status.
        private var script: String {
            "echo there > '\(scratch("there"))'; "
                + "read line < '\(scratch("more"))'; echo \"got $line\"; exit 5"
        }

        private func awaitProgram() throws {
            let there = try FileHandle(forReadingFrom: URL(fileURLWithPath: scratch("there")))
            #expect(there.availableData.count == 6)
        }

        private func letGoOn() throws {
            let more = try FileHandle(forWritingTo: URL(fileURLWithPath: scratch("more")))
            try more.write(contentsOf: Data("more\n".utf8))
        }

        private func awaitRecording() throws {
            try Proc.waitUntil("the recording is complete") {
                (try? Firstlight.run("report", scratch("recording")).status) == 0
            }
        }

        /// Also with `--until`: the user did not ask for the program to be stopped.
        @Test(arguments: [[], ["--until", "listen"]])
        func theProgramOfARecordGoesOn(options: [String]) throws {
            let recorder = try Firstlight.command(
                ["record", "-o", scratch("recording")] + options + ["sh", "-c", script]
            ).start()
            try awaitProgram()
            let stop = try Firstlight.run("stop", "\(recorder.pid)")
            #expect(stop == Finished(end: .exited(0), output: "", error: ""))
            try awaitRecording()
            try letGoOn()
            let finished = try recorder.finish()
            #expect(finished.status == 5 && finished.output == "got more\n", "\(finished)")
            #expect(finished.error.contains("still running when the recording ended"))
        }

        /// Without our message, the signal is meant for the program, as any other.
        @Test func anotherSignalIsThePrograms() throws {
            let script =
                "trap 'kill $!; exit 7' USR1; sleep 1000 & echo there > '\(scratch("there"))'; wait"
            let recorder = try Firstlight.command(
                ["record", "-o", scratch("recording"), "--quiet", "sh", "-c", script]
            ).start()
            try awaitProgram()
            kill(recorder.pid, SIGUSR1)
            #expect(try recorder.finish() == Finished(end: .exited(7), output: "", error: ""))
        }

        @Test(arguments: [true, false]) func anAttachEnds(bySignal: Bool) throws {
            let sleeper = try Sleeper()
            let recorder = try Firstlight.command(
                ["attach", "-o", scratch("recording"), "--quiet", "\(sleeper.pid)"]
            ).start()
            try Proc.waitUntil("it records") {
                FileManager.default.fileExists(atPath: scratch("recording"))
            }
            if bySignal {
                kill(recorder.pid, SIGUSR1)
            } else {
                #expect(try Firstlight.run("stop", "\(recorder.pid)").status == 0)
            }
            #expect(try recorder.finish() == Finished(end: .exited(0), output: "", error: ""))
            try awaitRecording()
            #expect(try sleeper.end().status == 0)
        }

        /// A measurement is no recording: it gets no signal, and goes on.
        @Test func aMeasurement() throws {
            let measuring = try Firstlight.command(
                ["measure", "-n", "1", "-o", scratch("launches"), "sh", "-c", script]
            ).start()
            for _ in 0..<2 {
                try awaitProgram()
                let refused = try Firstlight.run("stop", "\(measuring.pid)")
                #expect(refused.isRefusal(1, mentioning: "makes no recording"), "\(refused)")
                try letGoOn()
            }
            #expect(try measuring.finish().status == 0)
        }

        /// A process that the signal would kill does not get it.
        @Test func otherProcessesAreNotStopped() throws {
            let sleeper = try Sleeper()
            for (word, status, text) in [
                ("\(sleeper.pid)", 1, "makes no recording"), ("1", 1, "makes no recording"),
                ("\(Int32.max)", 1, "there is no process"), ("abc", 2, "must be a whole number"),
                ("0", 2, "must be a whole number"),
            ] as [(String, Int32, String)] {
                let refused = try Firstlight.run("stop", word)
                #expect(refused.isRefusal(status, mentioning: text), "\(refused)")
            }
            #expect(try sleeper.end().status == 0)
        }
    }
}
