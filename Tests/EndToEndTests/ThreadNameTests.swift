import EndToEndSupport
import TestSupport
import Testing

extension EndToEnd {
    /// Threads have the names that they gave themselves in the kernel, at any time.
    @Suite struct ThreadNames {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private static let all = ["asleep", "brief", "early 0", "early 1", "early 2", "late"]

        /// The first thread has the program's name.
        private func expectNames(_ report: LaunchReport) {
            let others = report.threads.filter { $0.tid != report.program.pid }.map(\.name)
            #expect(others.sorted() == Self.all)
            #expect(report.threads.first { $0.tid == report.program.pid }?.name == "renames")
        }

        /// Most of the threads have ended when the recording ends.
        @Test(arguments: [[], ["--capture", "ptrace"]])
        func namesTakenLater(options: [String]) throws {
            let (input, output) = (try Channel(), try Channel())
            var command = try Firstlight.recording(
                [try Setup.fixture("renames")], to: scratch("recording"),
                options: ["--quiet"] + options)
            command.input = .descriptor(input.reader)
            command.output = output.writer
            let child = try command.start()
            output.closeWriter()
            #expect(try output.line() == "named")
            input.closeWriter()
            let finished = try child.finish()
            #expect(finished.status == 0, "\(finished.error)")
            expectNames(try Recorded(path: scratch("recording"), finished: finished).json())
        }
    }
}
