import Exports
import ProfileModel
import Report
import Testing

@testable import Analysis

@Suite struct GateTextTests {
    @Test func regression() throws {
        var options = TextOptions()
        options.width = 100
        try expectSnapshot(MadeGate.regression.text(options: options), "gate.txt")
    }

    @Test(arguments: [60, 80]) func widths(width: Int) {
        var options = TextOptions()
        options.width = width
        for report in [MadeGate.regression, MadeGate.advice(mismatches: [.boot])] {
            let text = report.text(options: options)
            #expect(text.split(separator: "\n").allSatisfy { String($0).displayWidth <= width })
            #expect(text.hasSuffix("\n"))
        }
    }

    @Test(arguments: [
        (
            ComparisonPlan.Decision.slower,
            "regression: app --new is slower than app by more than is allowed; it comes from "
                + "Static initialisers: +6.001 ms a launch (+5.950 ms to +6.052 ms)"
        ),
        (.faster, "passed: "), (.same, "passed: "),
        (
            .inconclusive(.notSeen),
            "inconclusive: it is not certain whether app --new is slower than app; 10 pairs"
        ),
        (
            .inconclusive(.notConfirmed),
            "inconclusive: app --new seemed slower than app by more than is allowed, but a second "
                + "block of as many launches does not agree; 10 pairs with this spread would show "
                + "a change of 4.1 % in four of five trials"
        ),
    ]) func verdicts(decision: ComparisonPlan.Decision, words: String) {
        var seen = MadeGate.comparison
        switch decision {
        case .faster: seen.verdict = .faster
        case .same: seen.verdict = .same
        case .inconclusive: seen.verdict = .inconclusive
        case .slower: break
        }
        #expect(MadeGate.report(decision, seen: seen).verdict.hasPrefix(words))
        // In a line, whatever it is.
        #expect(!MadeGate.report(decision, seen: nil).verdict.contains("\n"))
    }

    @Test func secondBlocks() {
        let grounds = MadeGate.regression.grounds
        #expect(grounds.count == 2)
        #expect(grounds[1].hasPrefix("a second block of 10 pairs agrees: +30.1 %"))
        let refuted = MadeGate.report(
            .inconclusive(.notConfirmed), second: MadeGate.refutation)
        #expect(refuted.grounds[1].hasPrefix("a second block of 10 pairs does not agree: +1.0 %"))
    }

    /// The time that started processes add is shown beside the phase, whose wall time contains
    /// theirs.
    @Test func startedProcesses() throws {
        let report = MadeGate.report(
            .slower, second: MadeGate.comparison, processes: MadeGate.processes)
        #expect(
            report.verdict.hasSuffix(
                "(+5.950 ms to +6.052 ms); of the processes that it starts, git\\u{1b}[1m takes "
                    + "+5.500 ms (+5.400 ms to +5.600 ms)"), "\(report.verdict)")
        var options = TextOptions()
        options.width = 100
        let lines = report.text(options: options).split(separator: "\n")
        #expect(lines.contains { $0.contains("started: git") && $0.contains("+5.500 ms") })
        #expect(lines.contains { $0.contains("started: python3") && $0.contains("-9.000 µs") })
        #expect(MadeGate.report(.same, processes: MadeGate.processes).result.slowerProcess == nil)
    }

    @Test func noPhaseGrew() {
        let report = MadeGate.report(.slower, phases: [])
        #expect(report.verdict.hasSuffix("; no single phase is certainly longer"))
        // Only a regression comes from somewhere.
        #expect(MadeGate.report(.same).result.culprit == nil)
    }

    @Test func advice() {
        let report = MadeGate.advice()
        #expect(report.verdict.hasPrefix("passed, by stored figures: "))
        #expect(report.verdict.contains("base.firstlight"))
        #expect(report.grounds[0].contains("this is only advice"))
        #expect(report.grounds[0].contains("is not where it was"))
        #expect(report.grounds[1].contains("20 launches, and 20 before"))
        #expect(MadeGate.advice(.same).grounds[0].contains("the same file"))
        #expect(MadeGate.advice(.changed).grounds[0].contains("has changed"))
    }

    @Test(arguments: [
        (
            MeasurementMismatch.machine(before: "a", after: "b"),
            "the machines differ: a before, b after"
        ),
        (.processor(before: "a", after: "b"), "the processors differ: a before, b after"),
        (.cores(before: 2, after: 1_000), "the numbers of cores differ: 2 before, 1,000 after"),
        (.kernel(before: "5", after: "6"), "the kernels differ: 5 before, 6 after"),
        (.boot, "was restarted"), (.unknownBoot, "is not known"),
        (
            .condition(.cache, before: nil, after: "cold"),
            "the conditions differ: warm before, cold after"
        ),
        (
            .condition(.network, before: "3G", after: nil),
            "network 3G before, the machine's network after"
        ),
        (.condition(.disk, before: nil, after: "5"), "own speed before, disk at most 5 B/s after"),
        (
            .condition(.until, before: nil, after: "listen"),
            "program's end before, until listen after"
        ),
    ]) func mismatches(mismatch: MeasurementMismatch, words: String) {
        let report = MadeGate.advice(mismatches: [mismatch])
        #expect(report.grounds.last?.contains(words) == true, "\(report.grounds)")
        #expect(report.verdict.hasPrefix(mismatch.isFatal ? "inconclusive: " : "passed, "))
    }

    @Test func hostileTexts() {
        let evil = "\u{1B}[2J\u{202E}\n"
        for report in [
            MadeGate.report(.slower, phases: MadeGate.phases(evil)),
            MadeGate.report(.slower, measurement: MadeMeasurement.hostile()),
            MadeGate.advice(mismatches: [.machine(before: evil, after: evil)], name: evil),
        ] {
            let text = report.text()
            #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}"))
            #expect(!report.verdict.contains("\n"))
        }
    }
}
