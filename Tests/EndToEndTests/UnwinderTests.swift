import Foundation
import Testing

extension EndToEnd {
    /// The two engines of `--unwinder`, over the same stacks of real programs.
    @Suite(.needs("perf")) struct Unwinders {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private static let python = """
            import json, re
            for i in range(150):
                json.loads(json.dumps({"a": list(range(300))}, indent=1))
                re.sub("[0-9]+", lambda m: m.group()[::-1], "a1 b22 " * 50)
            """

        private static let programs: [[String]] = [
            ["/usr/bin/python3", "-c", python], ["groundtruth"], ["altstack"], ["signals"],
            ["deep", "200"], ["virtuals", "300"],
        ]

        private func imported(_ engine: String) throws -> Recorded {
            let path = scratch(engine)
            let finished = try Firstlight.run(
                "import", scratch("perf.data"), "-o", path, "--quiet", "--unwinder", engine)
            #expect(finished.status == 0, "\(finished.error)")
            return Recorded(path: path, finished: finished)
        }

        @Test(arguments: programs) func theEnginesAgree(program: [String]) throws {
            let path = program[0].hasPrefix("/") ? program[0] : try Setup.fixture(program[0])
            _ = try Command(
                [
                    "perf", "record", "-q", "-F", "4999", "-e", "cpu-clock:u", "--call-graph",
                    "dwarf,16384", "-o", scratch("perf.data"), "--", path,
                ] + program.dropFirst()
            ).run()
            let (own, library) = (try imported("quick"), try imported("libunwind"))
            #expect(try !own.json().launch.notes.contains { $0.kind == "libunwind" })
            #expect(try library.json().launch.notes.contains { $0.kind == "libunwind" })
            let ours = try own.folded("--no-phase", "--no-thread")
            let theirs = try library.folded("--no-phase", "--no-thread")
            #expect(ours.total == theirs.total && ours.total > 0)
            var left = Dictionary(
                theirs.lines.map { ($0.frames, $0.count) }, uniquingKeysWith: +)
            var same: Int64 = 0
            for line in ours.lines {
                let shared = min(line.count, left[line.frames] ?? 0)
                same += shared
                left[line.frames, default: 0] -= shared
            }
            let example = ours.lines.first { left[$0.frames] == nil }
            #expect(
                Double(same) >= 0.97 * Double(ours.total),
                "\(same) of \(ours.total); \(example?.frames ?? [])")
        }

        @Test func recordingWithIt() throws {
            let recorded = try Firstlight.recording(
                [try Setup.fixture("groundtruth")], to: scratch("launch"),
                options: ["--quiet", "--unwinder", "libunwind"]
            ).run()
            let report = try Recorded(path: scratch("launch"), finished: recorded).json()
            #expect(report.launch.notes.contains { $0.kind == "libunwind" })
            #expect(report.launch.slices > 100)
            #expect(report.launch.truncatedStacks * 50 <= report.launch.slices)
        }

        @Test func anEngineThatThereIsNot() throws {
            let refused = try Firstlight.run("record", "--unwinder", "magic", "true")
            #expect(refused.isRefusal(125, mentioning: "quick or libunwind"), "\(refused)")
        }
    }
}
