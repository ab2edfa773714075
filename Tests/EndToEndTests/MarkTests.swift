import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// Marks, from the command line to the report, compared with the program's own counts and
    /// times.
    @Suite struct Marks {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// The parts of the JSON report for these tests.
        private struct Report: Decodable {
            struct Ready: Decodable {
                var atNs: Int64
                var by: String
            }

            struct Launch: Decodable {
                var notes: [LaunchReport.Note]
            }

            struct Interval: Decodable {
                var name: String
                var category: String
                var tid: Int32?
                var startNs: Int64
                var wallNs: Int64
            }

            struct Signpost: Decodable {
                var name: String
                var category: String
                var tid: Int32?
                var atNs: Int64
            }

            var launch: Launch
            var ready: Ready?
            var intervals: [Interval]
            var signposts: [Signpost]

            func count(_ name: String) -> Int { signposts.filter { $0.name == name }.count }

            func intervals(_ name: String) -> [Interval] { intervals.filter { $0.name == name } }

            var lost: Int64 {
                launch.notes.first { $0.kind == "lost_signposts" }?.value ?? 0
            }
        }

        private func report() throws -> Report {
            let finished = Finished(end: .exited(0), output: "", error: "")
            let text = try Recorded(path: scratch("recording"), finished: finished)
                .text("report", ["--format", "json"])
            return try JSONDecoder().decode(Report.self, from: Data(text.utf8))
        }

        private func marks(_ list: [String]) -> [String] { list.flatMap { ["--mark", $0] } }

        /// Records the fixture, whose output and end must be the same as without recording.
        private func record(
            _ words: [String], of fixture: String = "marked", marks: [String],
            options: [String] = []
        ) throws -> (report: Report, complaints: [Substring]) {
            let program = [try Setup.fixture(fixture)] + words
            let alone = try Command(program).run()
            let finished = try Firstlight.recording(
                program, to: scratch("recording"),
                options: ["--quiet"] + options + self.marks(marks),
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")]
            ).run()
            #expect(finished.end == alone.end)
            #expect(finished.output == alone.output)
            return (try report(), finished.complaints)
        }

        @Test func spansAreNested() throws {
            let names = ["longer", "shorter", "climb", "hand_over"]
            let (report, complaints) = try record(
                ["spans"], marks: names.map { "\($0)=\($0).." })
            #expect(complaints.isEmpty)
            #expect(report.intervals.allSatisfy { $0.category == "mark" })
            for name in names { #expect(!report.intervals(name).isEmpty, "\(name)") }
            #expect(Set(report.intervals.map(\.tid)).count == 2)
            // Each interval lies within its caller's.
            let climbs = report.intervals("climb").sorted { $0.startNs < $1.startNs }
            #expect(climbs.count == 5)
            for (outer, inner) in zip(climbs, climbs.dropFirst()) {
                #expect(outer.startNs <= inner.startNs)
                #expect(inner.startNs + inner.wallNs <= outer.startNs + outer.wallNs)
            }
        }

        /// Static programs wait at their first instruction. Some have not yet relocated themselves
        /// then, so the jump tables that `ways` uses are not ready.
        private static let variants = [
            "marked", "marked-static", "marked-static-pie", "marked-static-packed",
        ]

        @Test(arguments: variants)
        func everyPassIsCounted(fixture: String) throws {
            let (report, complaints) = try record(
                ["spans"], of: fixture,
                marks: [
                    "hit=hit", "ways=ways..", "red zone=red_zone..", "peculiar=peculiar..",
                    "both=hit..", "behind=behind_tiny", "of the program=\(fixture)!compute",
                ])
            #expect(complaints.isEmpty)
            // 50 on each of two threads, and one that a tail call leads to.
            #expect(report.count("hit") == 101)
            #expect(report.intervals("both").count == 101)
            // A thread that was over before the recorder noticed it is not known: nil.
            let threads = Set(report.signposts.map(\.tid))
            #expect(threads.count == 2 || threads.count == 3 && threads.contains(nil))
            #expect(report.intervals("ways").count == 6)
            #expect(report.intervals("red zone").count == 2)
            #expect(report.intervals("peculiar").count == 1)
            #expect(report.count("behind") == 1)
            #expect(report.count("of the program") == 10)
            #expect(report.lost == 0)
        }

        @Test func unmarkableFunctionsAreReportedAndUnchanged() throws {
            let (report, complaints) = try record(
                ["spans"],
                marks: ["a=looping..", "b=tiny", "c=nowhere", "d=usdt:marked:none", "e=time"])
            #expect(report.intervals.isEmpty && report.signposts.isEmpty)
            let expected = [
                "--mark c: no function 'nowhere' in the program",
                "--mark d: no probe 'marked:none' in the program",
                "--mark a: 'looping' cannot be marked: it loops to its first instruction",
                "--mark b: 'tiny' cannot be marked: there is no room for a jump",
                "--mark e: 'time' cannot be marked: which code it stands for is decided when",
            ]
            #expect(complaints.count == expected.count)
            for words in expected {
                #expect(complaints.contains { $0.contains(words) }, "\(words)")
            }
        }

        /// One probe without a semaphore, and one with a semaphore, which is raised while the probe
        /// is marked.
        @Test(arguments: variants)
        func probes(fixture: String) throws {
            let (report, complaints) = try record(
                ["probes", "7"], of: fixture,
                marks: ["plain=usdt:marked:plain", "guarded=usdt:marked:guarded"])
            #expect(complaints.isEmpty)
            #expect(report.count("plain") == 7)
            #expect(report.count("guarded") == 7)
            #expect(try scratch.truth()["guarded"] == 7)
            // It is not raised for another probe.
            let other = try record(
                ["probes", "7"], of: fixture, marks: ["plain=usdt:marked:plain"])
            #expect(other.report.count("plain") == 7)
            #expect(try scratch.truth()["guarded"] == 0)
        }

        @Test func forkedChildrenSayNothing() throws {
            let (report, _) = try record(["forked", "4"], marks: ["hit=hit"])
            #expect(report.count("hit") == 4)
        }

        @Test func loadedLibrariesAreMarkedAtTheNextLook() throws {
            let (report, complaints) = try record(
                ["plugin", try Setup.fixture("plugin.so")],
                marks: ["work=plugin.so!plugin_work", "hit=hit"])
            #expect(complaints.isEmpty)
            #expect(report.count("work") == 3)
        }

        /// More hits than a recording can keep: the rest is counted.
        @Test func manyHitsAreBounded() throws {
            let (report, complaints) = try record(["hits", "400000"], marks: ["hit=hit"])
            #expect(complaints.isEmpty)
            #expect(Int64(report.count("hit")) + report.lost == 800_000)
            #expect(report.count("hit") <= 200_000)
        }

        @Test func aMarkSaysThatTheLaunchIsOver() throws {
            let (report, _) = try record(
                ["spans"], marks: ["done=hand_over.."],
                options: ["--until", "mark:done", "--after", "keep"])
            let done = try #require(report.intervals("done").first)
            #expect(report.ready?.by == "mark:done")
            #expect(report.ready?.atNs == done.startNs + done.wallNs)
        }

        // MARK: Attaching

        /// The fixture as a server that answers requests.
        private final class Server {
            let child: Child
            private let input: Channel
            private let output: Channel

            init(_ mode: String = "serve", fixture: String = "marked") throws {
                (input, output) = (try Channel(), try Channel())
                var command = Command([try Setup.fixture(fixture), mode])
                command.input = .descriptor(input.reader)
                command.output = output.writer
                child = try command.start()
                input.closeReader()
                output.closeWriter()
                #expect(try output.line() == "ready")
            }

            /// Whether its code is as it was in the beginning, after it has worked for some time.
            func isUnchanged(working: Bool = false) throws -> Bool {
                try isUnchanged(after: working ? "w" : ".")
            }

            /// Makes its first thread end.
            func loseFirstThread() throws -> Bool { try isUnchanged(after: "l") }

            private func isUnchanged(after request: String) throws -> Bool {
                try input.write(request)
                return try output.line() == "old"
            }

            func end() throws -> Int32? {
                input.closeWriter()
                return try child.finish().status
            }
        }

        @Test(arguments: variants)
        func aRunningProgramIsMarkedAndLeftAsItWas(fixture: String) throws {
            let server = try Server(fixture: fixture)
            let dispositions = Dispositions(of: server.child.pid)
            for round in 1...5 {
                let recording = try Firstlight.command(
                    ["attach", "-o", scratch("recording"), "--quiet", "--until", "mark:hit"]
                        + marks(["hit=hit"]) + [String(server.child.pid)])
                let recorder = try recording.start()
                // Until the recorder has attached, and has seen a mark.
                for _ in 1...500 where !recorder.hasEnded {
                    _ = try server.isUnchanged(working: true)
                }
                let result = try recorder.finish()
                #expect(result == Finished(end: .exited(0), output: "", error: ""), "\(round)")
                let report = try report()
                #expect(report.ready?.by == "mark:hit")
                #expect(report.count("hit") >= 1)
                #expect(try server.isUnchanged())
                #expect(!Proc.isTraced(server.child.pid))
                // Also if our code was removed while a sample was under way.
                #expect(Dispositions(of: server.child.pid) == dispositions)
            }
            #expect(try server.end() == 0)
        }

        /// When a process's first thread has ended before the others, `/proc` has nothing more
        /// under the process's number.
        @Test func theFirstThreadEndsMeanwhile() throws {
            let server = try Server("leave")
            let pid = server.child.pid
            let attach = { [self] in
                try Firstlight.command(
                    ["attach", "-o", scratch("recording"), "--quiet"] + marks(["hit=hit"])
                        + [String(pid)])
            }
            let recorder = try attach().start()
            while try server.isUnchanged(working: true) {
                if recorder.hasEnded { break }
            }
            #expect(try !server.loseFirstThread())
            for _ in 1...3 { _ = try server.isUnchanged(working: true) }
            kill(recorder.pid, SIGINT)
            let result = try recorder.finish()
            #expect(result == Finished(end: .exited(0), output: "", error: ""))
            #expect(try report().count("hit") >= 5)
            #expect(try server.isUnchanged())
            let maps = try Proc.tasks(pid).filter { $0 != pid }.map {
                try String(contentsOfFile: "/proc/\($0)/maps", encoding: .utf8)
            }
            #expect(maps.count == 1)
            #expect(maps.allSatisfy { !$0.contains("firstlight") })
            // A later recorder says so.
            let second = try attach().run()
            #expect(second.isRefusal(125, mentioning: "its first thread has ended"))
            #expect(try server.end() == 0)
        }

        /// The program goes on, also with patched code.
        @Test func theProgramSurvivesTheRecorder() throws {
            var numbers = SeededNumbers(seed: 7)
            let program = try Setup.fixture("marked")
            let alone = try Command([program, "hits", "200000"]).run()
            for _ in 1...8 {
                let output = try Channel()
                var command = try Firstlight.recording(
                    [program, "hits", "200000"], to: scratch("recording"),
                    options: ["--quiet"] + marks(["hit=hit", "span=hit.."]))
                command.output = output.writer
                let recorder = try command.start()
                output.closeWriter()
                _ = try Proc.recordedProgram(of: recorder.pid, running: program)
                // Nothing is synchronised by this wait: any moment is fine.
                usleep(UInt32.random(in: 0..<200_000, using: &numbers))
                kill(recorder.pid, SIGKILL)
                #expect(try output.rest() == alone.output)
                _ = try recorder.finish()
            }
        }

        @Test func notWithoutTheSignalCapture() throws {
            let program = try Setup.fixture("marked")
            let byPtrace = try Firstlight.recording(
                [program], to: scratch("recording"),
                options: ["--capture", "ptrace"] + marks(["m=main"])
            ).run()
            #expect(byPtrace.isRefusal(125, mentioning: "--mark and --capture ptrace"))
        }
    }
}
