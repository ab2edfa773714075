import EndToEndSupport
import TestSupport
import Testing

extension EndToEnd {
    /// Findings name what made launches longer than necessary, and nothing else.
    @Suite struct Findings {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        // MARK: Star Searcher

        /// The findings for each of the demonstration's flaws: kinds, the function to examine, and
        /// words of the title.
        private static let sins: [(kinds: Set<String>, function: String, words: [String])] = [
            (["initializer"], "SuperfastLogger::warmUp", ["static initialiser of libsuperlog.so"]),
            (
                // It depends on the machine how long the worker had no core.
                ["priority-inversion", "thread-wait"], "Semaphore::wait",
                ["StarCatalogue::loadStars", "lower priority (nice 10", "in StarCatalogue::"]
            ),
            (["main-thread-work"], "FrameBuilder::prewarmDetailViews", ["on the main thread"]),
        ]

        /// Which of them are the first depends on the machine: beside others the worker of low priority
        /// gets next to nothing. The wait for that worker is a finding in every case.
        @Test func theSinsAreNamed() throws {
            let recorded = try Firstlight.record([try Setup.star("starsearcher")], in: scratch)
            let report = try recorded.json()
            let findings = report.findings
            #expect(findings.contains { $0.function.hasPrefix("Semaphore::wait") })
            for sin in Self.sins {
                for finding in findings where finding.function.hasPrefix(sin.function) {
                    let isSaid =
                        sin.kinds.contains(finding.kind) && finding.savingNs > 0
                        && sin.words.allSatisfy(finding.title.contains)
                        && finding.file?.isEmpty == false && finding.line ?? 0 > 0
                    #expect(isSaid, "\(finding)")
                }
                // Beside a wait that a busy machine makes ten times longer, the others may not be worth a finding.
                #expect(report.functions.contains { $0.function.hasPrefix(sin.function) })
            }
        }

        @Test func theMendedVariantHasNoneOfThem() throws {
            let recorded = try Firstlight.record(
                [try Setup.star("starsearcher-mended")], in: scratch)
            for finding in try recorded.json().findings {
                for sin in Self.sins { #expect(!finding.function.hasPrefix(sin.function)) }
            }
        }

        // MARK: False alarms

        @Test(
            .needs("git"), .needs("sqlite3"),
            arguments: [["true"], ["git", "--version"], ["sqlite3", ":memory:", ""]])
        func cleanProgramsHaveNone(program: [String]) throws {
            // Read all files first: waiting for a disk would be a true finding.
            _ = try Command(program).run()
            let recorded = try Firstlight.record(program, in: scratch)
            #expect(try recorded.json().findings.map(\.title) == [])
            #expect(try !recorded.text("report", ["--full"]).contains("most at stake first"))
        }

        // MARK: Kinds

        @Test func aPriorityInversionIsNamed() throws {
            let recorded = try Firstlight.record(
                [try Setup.fixture("inversion")], in: scratch,
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
            let truth = try scratch.truth()
            let findings = try recorded.json().findings
            let found = try #require(
                findings.first { $0.kind == "priority-inversion" }, "\(findings)")
            let other = try #require(found.waitedFor)
            let isNamed =
                found.function == "wait_for_lock" && found.title.contains("hold_lock")
                && Int64(other.tid) == truth["low"] && other.known == "owner"
                && other.stack.contains { $0.function == "hold_lock" }
            #expect(isNamed, "\(found)")
        }

        @Test(
            arguments: [
                ("mutex", "lock-wait", "wait_in_mutex"), ("join", "thread-wait", "wait_in_join"),
                ("semaphore", "thread-wait", "wait_in_semaphore"), ("pipe", "pipe-wait", "hear"),
                ("connect", "network-wait", "connect_to_server"),
                ("nanosleep", "sleep", "pause_for"), ("child", "child-wait", "wait_in_child"),
            ])
        func waits(name: String, kind: String, function: String) throws {
            let recorded = try Firstlight.record(
                [try Setup.fixture("waits"), name], in: scratch,
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
            let found = try recorded.json().finding(ofWait: name, kind: kind, in: function)
            #expect(found?.file?.hasSuffix("/waits.c") == true)
        }

        /// One finding for each child would hide that all of them are the same.
        @Test func childrenAreNamed() throws {
            let recorded = try Firstlight.record(
                ["/bin/sh", "-c", "for i in 1 2 3; do sleep 0.02; done; :"], in: scratch)
            let found = try recorded.json().findings.first { $0.kind == "child-wait" }
            let isNamed = found?.title.contains("children (sleep 0.02)") == true
            #expect(isNamed, "\(found as Any)")
        }
    }
}
