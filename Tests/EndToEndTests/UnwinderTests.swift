import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The two engines of `--unwinder`, with the same stacks of real programs.
    @Suite(.needs("perf")) struct Unwinders {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private static let python = """
            import json, re
            for i in range(500):
                json.loads(json.dumps({"a": list(range(300))}, indent=1))
                re.sub("[0-9]+", lambda m: m.group()[::-1], "a1 b22 " * 50)
            """

        private static let programs: [[String]] = [
            ["/usr/bin/python3", "-c", python], ["groundtruth"], ["altstack"], ["deep", "200"],
            ["virtuals", "300"], ["inflight", "300"],
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
            #expect(ours.total == theirs.total)
            // In microseconds. A share of few samples would mean nothing.
            #expect(ours.total > 30_000, "\(program) computes too little")
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
            #expect(report.launch.slices > 0)
            #expect(report.launch.mostStacksAreWhole, "\(report.launch)")
        }

        /// Our engine does not know the operations in its table, so it asks libunwind.
        @Test func stacksThatOnlyLibunwindFinishes() throws {
            let recorded = try Firstlight.record(
                [try Setup.fixture("oddtables")], in: scratch, options: ["--quiet"])
            let report = try recorded.json()
            #expect(report.launch.notes.contains { $0.kind == "second_opinions" && $0.value > 10 })
            #expect(report.launch.truncatedStacks * 2 <= report.launch.slices)
            let folded = try recorded.folded("--no-phase", "--no-thread")
            let whole = folded.lines.filter {
                $0.frames.suffix(3) == ["main", "through_odd_tables", "compute"]
            }
            #expect(whole.reduce(0) { $0 + $1.count } * 2 > folded.total, "\(folded.lines)")
        }

        /// A library of that name which the dynamic linker refuses. Our own walk does without it.
        @Test func withoutLibunwind() throws {
            try scratch.write("", to: "libunwind-x86_64.so.8")
            func record(_ engine: String) throws -> Finished {
                try Firstlight.recording(
                    [try Setup.fixture("oddtables")], to: scratch("launch"),
                    options: ["--quiet", "--unwinder", engine],
                    adding: ["LD_LIBRARY_PATH": scratch.folder]
                ).run()
            }
            let refused = try record("libunwind")
            #expect(
                refused.isRefusal(125, mentioning: "--unwinder", "libunwind-x86_64.so.8"),
                "\(refused)")
            #expect(!scratch.has("launch"))
            let recorded = Recorded(path: scratch("launch"), finished: try record("quick"))
            let launch = try recorded.json().launch
            #expect(!launch.notes.contains { $0.kind == "second_opinions" })
            #expect(launch.truncatedStacks * 2 > launch.slices, "\(launch)")
        }

        @Test func anEngineThatThereIsNot() throws {
            let refused = try Firstlight.run("record", "--unwinder", "magic", "true")
            #expect(refused.isRefusal(125, mentioning: "quick or libunwind"), "\(refused)")
        }
    }
}

extension EndToEnd {
    /// Stripped programs of Go: their own table has names, lines and frames.
    @Suite(.needs("go")) struct StrippedGo {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private static let source = """
            package main

            import (
            	"encoding/json"
            	"net/http"
            	"net/http/httptest"
            	"sort"
            )

            func handle(writer http.ResponseWriter, request *http.Request) {
            	values := make([]int, 400)
            	for index := range values {
            		values[index] = index * 7919 % 401
            	}
            	sort.Ints(values)
            	text, _ := json.Marshal(values)
            	writer.Write(text)
            }

            func main() {
            	server := httptest.NewServer(http.HandlerFunc(handle))
            	defer server.Close()
            	for count := 0; count < 3000; count++ {
            		answer, err := http.Get(server.URL)
            		if err != nil {
            			panic(err)
            		}
            		answer.Body.Close()
            	}
            }
            """

        @Test func aServer() throws {
            try Data(Self.source.utf8).write(to: URL(fileURLWithPath: scratch("main.go")))
            // Without a cache it also builds Go's library.
            let built = try Command(
                ["go", "build", "-ldflags=-s -w", "-o", scratch("server"), scratch("main.go")],
                adding: ["CGO_ENABLED": "0", "GO111MODULE": "off"]
            ).run(limit: 600)
            #expect(built.status == 0, "\(built.error)")
            let finished = try Firstlight.recording(
                [scratch("server")], to: scratch("launch"), options: ["--quiet"]
            ).run()
            let recorded = Recorded(path: scratch("launch"), finished: finished)
            let report = try recorded.json()
            #expect(report.launch.slices > 0)
            #expect(report.launch.mostStacksAreWhole, "\(report.launch)")
            let folded = try recorded.folded("--no-phase", "--no-thread")
            let unnamed = folded.lines.filter { $0.frames.contains { $0.hasPrefix("server+0x") } }
            #expect(unnamed.reduce(0) { $0 + $1.count } * 2 <= folded.total)
            #expect(folded.lines.contains { $0.frames.contains("main.handle") })
        }
    }
}
