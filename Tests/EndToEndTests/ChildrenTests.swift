import Foundation
import Glibc
import Testing

extension EndToEnd {
    /// `--follow-children`: each process has a recording of its own, and the main one lists them.
    @Suite struct Children {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func record(_ program: [String]) throws -> (Finished, LaunchReport) {
            let finished = try Firstlight.recording(
                program, to: scratch("launch.firstlight"),
                options: ["--quiet", "--follow-children"]
            ).run()
            let report = try Recorded(path: scratch("launch.firstlight"), finished: finished)
                .json()
            return (finished, report)
        }

        @Test func eachHasItsRecording() throws {
            let spin = try Setup.fixture("spin")
            let script = "\(spin); (exit 3); \(spin) & wait; exit 7"
            let alone = try Command(["sh", "-c", script]).run()
            let (recorded, report) = try record(["sh", "-c", script])
            #expect(recorded == alone)
            #expect(report.program.path.hasSuffix("sh"))
            let children = report.children ?? []
            #expect(children.map(\.name).sorted() == ["sh", "spin", "spin"])
            #expect(children.filter { $0.name == "sh" }.map(\.exitStatus) == [3])
            for child in children {
                #expect(child.parent == report.program.pid)
                let own = try Recorded(path: scratch(child.file), finished: recorded).json()
                #expect(own.program.pid == child.pid)
                #expect(own.brokenSums.isEmpty)
                guard child.name == "spin" else { continue }
                #expect(own.phaseNames.suffix(2) == ["Static initialisers", "Main"])
                #expect(own.functions.contains { $0.function == "spin" && $0.selfCpuNs > 0 })
            }
        }

        @Test(arguments: [["vfork", "20"], ["spawn", "20"], ["fork"]])
        func theyAreBornInEveryWay(words: [String]) throws {
            let program = [try Setup.fixture("forkers")] + words
            let alone = try Command(program).run()
            let (recorded, report) = try record(program)
            #expect(recorded == alone)
            #expect(report.children?.isEmpty == false)
        }

        /// Of a child that has ended nothing stays but a line: neither files nor threads.
        @Test func thousandsMayEnd() throws {
            let script = """
                i=0; while [ $i -lt 60 ]; do /bin/true; i=$((i+1)); done; echo ready; read line
                """
            let (input, output) = (try Channel(), try Channel())
            var command = try Firstlight.recording(
                ["sh", "-c", script], to: scratch("launch.firstlight"),
                options: ["--quiet", "--follow-children"])
            command.input = .descriptor(input.reader)
            command.output = output.writer
            let recorder = try command.start()
            output.closeWriter()
            #expect(try output.line(limit: 60) == "ready")
            let files = "/proc/\(recorder.pid)/fd"
            try Proc.waitUntil("files being closed") {
                let open = try? FileManager.default.contentsOfDirectory(atPath: files).count
                return open.map { $0 < 50 } == true
            }
            input.closeWriter()
            _ = try recorder.finish()
            let finished = Finished(end: .exited(0), output: "", error: "")
            let report = try Recorded(path: scratch("launch.firstlight"), finished: finished).json()
            let children = report.children ?? []
            // Nobody begins twice, with an empty recording in place of the first.
            #expect(children.count == 60 && children.allSatisfy { $0.name == "true" })
        }

        /// What takes long after the program's end is called off: what was done is kept, the rest
        /// can be read nevertheless, and nothing else is left.
        @Test func symbolicationIsCalledOff() throws {
            let script = "i=0; while [ $i -lt 60 ]; do /bin/true; i=$((i+1)); done; exit 7"
            let error = try Channel()
            // The summary does not fit: the recorder waits for us with it.
            let setPipeSize: Int32 = 1031
            #expect(fcntl(error.writer, setPipeSize, 4096) == 4096)
            var command = try Firstlight.recording(
                ["sh", "-c", script], to: scratch("launch.firstlight"),
                options: ["--follow-children"])
            command.error = error.writer
            let recorder = try command.start()
            error.closeWriter()
            #expect(try error.line(limit: 60)?.hasPrefix("sh · ") == true)
            kill(recorder.pid, SIGINT)
            let said = try error.rest().split(separator: "\n")
            #expect(try recorder.finish().status == 7)
            #expect(
                said.last.map(String.init)
                    == "firstlight: interrupted: 60 of 60 children's recordings are without "
                    + "functions' names; firstlight report looks them up")
            let finished = Finished(end: .exited(0), output: "", error: "")
            let report = try Recorded(path: scratch("launch.firstlight"), finished: finished)
                .json()
            let children = report.children ?? []
            #expect(children.count == 60)
            #expect(scratch.files == (children.map(\.file) + ["launch.firstlight"]).sorted())
            let last = try #require(children.last)
            let own = try Recorded(path: scratch(last.file), finished: finished).json()
            #expect(own.program.pid == last.pid)
        }

        /// A child that lives on is let go, unharmed.
        @Test func aChildMayOutliveItsParent() throws {
            let input = try Channel()
            var command = try Firstlight.recording(
                ["sh", "-c", "exec 3<&0; { read line <&3; echo $line; } & exit 0"],
                to: scratch("launch.firstlight"), options: ["--quiet", "--follow-children"])
            command.input = .descriptor(input.reader)
            let output = try Channel()
            command.output = output.writer
            let child = try command.start()
            output.closeWriter()
            #expect(try child.finish().status == 0)
            try input.write("later\n")
            #expect(try output.rest() == "later\n")
        }
    }
}
