import EndToEndSupport
import TestSupport
import Testing

extension EndToEnd {
    /// `firstlight fold`, read by a parser that is not ours.
    @Suite struct Fold {
        private let scratch: Scratch
        private let recorded: Recorded
        private let report: LaunchReport

        init() throws {
            scratch = try Scratch()
            recorded = try Firstlight.record([try Setup.fixture("groundtruth")], in: scratch)
            report = try recorded.json()
        }

        /// Every line is rounded such that the total is rounded only once.
        private func isRounded(_ microseconds: Int64, _ nanoseconds: Int64) -> Bool {
            abs(microseconds * 1000 - nanoseconds) <= 1000
        }

        @Test func cpuAddsUpToTheReports() throws {
            let folded = try recorded.folded()
            #expect(isRounded(folded.total, report.launch.cpuNs))
            #expect(try recorded.folded("--weight", "cpu").lines == folded.lines)
        }

        @Test func wallAddsUpToTheThreads() throws {
            let folded = try recorded.folded("--weight", "wall")
            #expect(isRounded(folded.total, report.threads.reduce(0) { $0 + $1.wallNs }))
            let blocked = try recorded.folded("--weight", "blocked")
            #expect(isRounded(blocked.total, report.threads.reduce(0) { $0 + $1.blockedNs }))
            let sleeping = blocked.lines.filter { $0.frames.last == "[sleep]" }
            #expect(sleeping.contains { $0.frames.contains("known_sleep") })
            let runnable = try recorded.folded("--weight", "runnable")
            // Threads wait for a core in both states.
            let waiting = report.threads.reduce(0) { $0 + $1.runnableNs + $1.preemptedNs }
            #expect(isRounded(runnable.total, waiting))
        }

        @Test func stacksBeginWithPhaseAndThread() throws {
            let phases = Set(report.phaseNames)
            let pid = report.program.pid
            for line in try recorded.folded().lines {
                #expect(phases.contains(line.frames[0]))
                #expect(line.frames.count >= 3)
            }
            let unphased = try recorded.folded("--no-phase").lines
            #expect(unphased.allSatisfy { !phases.contains($0.frames[0]) })
            let unthreaded = try recorded.folded("--no-thread").lines
            #expect(unthreaded.allSatisfy { phases.contains($0.frames[0]) })
            let bare = try recorded.folded("--no-phase", "--no-thread").lines
            let roots = Set(bare.map { $0.frames[0] })
            #expect(roots.contains("_start"))
            // The functions where a thread begins: which one depends on the C library and the
            // kernel.
            #expect(!roots.isDisjoint(with: ["clone3", "clone"]))
            #expect(roots.allSatisfy { !$0.contains("\(pid)") && !phases.contains($0) })
        }

        @Test func phasesCanBeChosen() throws {
            for phase in report.phases {
                let folded = try recorded.folded("--phase", phase.name)
                #expect(folded.lines.allSatisfy { $0.frames[0] == phase.name })
                #expect(isRounded(folded.total, phase.cpuNs))
            }
            let begun = try recorded.folded("--phase", "static")
            #expect(begun.lines == (try recorded.folded("--phase", "Static initialisers")).lines)
        }

        @Test func threadsCanBeChosen() throws {
            for thread in report.threads {
                let folded = try recorded.folded("--thread", String(thread.tid))
                #expect(isRounded(folded.total, thread.runningNs))
            }
            let named = try recorded.folded("--thread", "groundtruth")
            #expect(isRounded(named.total, report.launch.cpuNs))
        }

        @Test func unknownFunctionsAreRefused() throws {
            for choice in [["--phase", "Nowhere"], ["--thread", "nobody"], ["--thread", "1"]] {
                let result = try Firstlight.command(["fold", recorded.path] + choice).run()
                #expect(result.isRefusal(1, mentioning: choice[1]), "\(result)")
            }
        }

        @Test func optionsMayStandBeforeTheFile() throws {
            let words = ["--weight", "wall", "--phase", "Main", "--no-thread"]
            let after = try Firstlight.command(["fold", recorded.path] + words).run()
            let before = try Firstlight.command(["fold"] + words + [recorded.path]).run()
            #expect(after.status == 0 && !after.output.isEmpty)
            #expect(before == after)
        }

        @Test func inlinedFramesAreMarked() throws {
            let inlined = try Firstlight.record([try Setup.fixture("inlined")], in: scratch)
            let heaviest = try inlined.folded().lines.max { $0.count < $1.count }
            #expect(heaviest?.frames.suffix(3) == ["outer", "middle_[i]", "inner_loop_[i]"])
        }
    }
}
