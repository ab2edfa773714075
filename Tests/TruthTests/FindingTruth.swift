import EndToEndSupport
import TestSupport
import Testing

extension Measured {
    /// Findings name what made launches longer than necessary, and nothing else.
    @Suite struct Findings {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// The demonstration's flaws.
        private static let sins = [
            "SuperfastLogger::warmUp", "Semaphore::wait", "FrameBuilder::prewarmDetailViews",
        ]

        @Test func theSinsAreTheFirstThree() throws {
            try Truth.of("findings of star searcher") { figures in
                let recorded = try Firstlight.record([try Setup.star("starsearcher")], in: scratch)
                let first = try recorded.json().findings.prefix(Self.sins.count)
                for sin in Self.sins {
                    let found = first.first { $0.function.hasPrefix(sin) }
                    figures.check("\(sin) is one of three", isSo: found != nil)
                    figures.check(
                        "\(sin)'s saving", found?.savingNs, isIn: 100_000_000...Int64.max)
                }
            }
        }

        @Test func aPriorityInversionIsNamed() throws {
            try Truth.of("findings: an inversion") { figures in
                let recorded = try Firstlight.record(
                    [try Setup.fixture("inversion")], in: scratch,
                    adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
                let truth = try scratch.truth()
                let findings = try recorded.json().findings
                let found = try #require(
                    findings.first { $0.kind == "priority-inversion" }, "\(findings)")
                let other = try #require(found.waitedFor)
                figures.check("wait", found.savingNs, truth: truth["wait"])
                // It shared the core with a thread that has nine times its weight.
                figures.check(
                    "without the core", other.runnableNs + other.preemptedNs,
                    isIn: found.savingNs / 2...Int64.max)
            }
        }

        @Test(
            arguments: [
                ("mutex", "lock-wait", "wait_in_mutex"), ("join", "thread-wait", "wait_in_join"),
                ("semaphore", "thread-wait", "wait_in_semaphore"), ("pipe", "pipe-wait", "hear"),
                ("connect", "network-wait", "connect_to_server"),
                ("nanosleep", "sleep", "pause_for"), ("child", "child-wait", "wait_in_child"),
            ])
        func waits(name: String, kind: String, function: String) throws {
            try Truth.of("findings: \(name)") { figures in
                let recorded = try Firstlight.record(
                    [try Setup.fixture("waits"), name], in: scratch,
                    adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
                let truth = try scratch.truth()[name]
                let found = try recorded.json().finding(ofWait: name, kind: kind, in: function)
                figures.check(name, found?.savingNs, truth: truth)
            }
        }

        /// One finding for each child would hide that all of them are the same.
        @Test func childrenAreNamed() throws {
            try Truth.of("findings: children") { figures in
                let recorded = try Firstlight.record(
                    ["/bin/sh", "-c", "for i in 1 2 3; do sleep 0.02; done; :"], in: scratch)
                let found = try recorded.json().findings.first { $0.kind == "child-wait" }
                // The shell may begin to wait a little after its child began to sleep.
                figures.check("three sleeps", found?.savingNs, isIn: 55_000_000...Int64.max)
            }
        }
    }
}
