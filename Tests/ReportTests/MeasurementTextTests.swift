import Exports
import ProfileModel
import Report
import TestSupport
import Testing

@testable import Analysis

@Suite struct MeasurementTextTests {
    private func text(
        _ measured: (Measurement, MeasurementSummary), width: Int = 110, colour: Bool = false
    ) -> String {
        var options = TextOptions()
        options.width = width
        options.usesColour = colour
        return MeasurementReport.text(measured.0, measured.1, options: options)
    }

    @Test func single() throws {
        try expectSnapshot(text(Measured.single()), "measurement.txt")
    }

    @Test(arguments: [60, 80])
    func otherWidths(width: Int) throws {
        let text = text(Measured.single(), width: width)
        try expectSnapshot(text, "measurement-\(width).txt")
        #expect(text.split(separator: "\n").allSatisfy { String($0).displayWidth <= width })
    }

    @Test func colour() throws {
        try expectSnapshot(text(Measured.single(), colour: true), "measurement-colour.txt")
    }

    @Test func twoArms() throws {
        try expectSnapshot(text(Measured.against()), "measurement-against.txt")
    }

    @Test(arguments: [
        (Comparison.Verdict.slower, "app --new is slower than app by more than is allowed\n"),
        (.faster, "app --new is faster than app\n"),
        (.same, "app --new is not slower than app by more than is allowed\n"),
        (
            .inconclusive,
            "inconclusive: it is not certain whether app --new is slower than app; 5 pairs with this"
        ),
    ])
    func verdicts(verdict: Comparison.Verdict, words: String) {
        var (measurement, summary) = Measured.against()
        summary.comparison?.verdict = verdict
        #expect(text((measurement, summary)).contains(words))
        summary.comparison = nil
        #expect(
            text((measurement, summary)).contains(
                "inconclusive: too few launches count to compare app --new with app\n"))
    }

    /// Two arms that cannot be told apart by their names get other ones.
    @Test(arguments: [
        (["/a/app"], "/a/app", ["/b/app"], "/b/app", "/a/app against /b/app"),
        (["app"], "/a/app", ["app"], "/b/app", "/a/app against /b/app"),
        (["app"], "/a/app", ["app"], "/a/app", "app (1) against app (2)"),
        (["new"], "/a/new", ["old"], "/a/old", "new against old"),
    ])
    func names(
        _ first: [String], _ firstPath: String, _ second: [String], _ secondPath: String,
        title: String
    ) {
        var (measurement, summary) = Measured.against()
        measurement.arms = [
            MeasuredArm(command: first, path: firstPath),
            MeasuredArm(command: second, path: secondPath),
        ]
        #expect(text((measurement, summary)).hasPrefix(title + " · "))
        summary.comparison = nil
        #expect(text((measurement, summary)).hasPrefix(title + " · "))
    }

    /// Nothing is invented where nothing is known.
    @Test func nothingCounts() {
        var (measurement, summary) = Measured.single()
        measurement.header.ending = .gaveUp
        for index in measurement.launches.indices {
            measurement.launches[index].discarded = .warm
        }
        summary.arms = [
            ArmSummary(
                launches: 0, discarded: [.warm: 22], wall: nil, phases: [], processes: [], cpu: nil,
                mainBlocked: nil, minorFaults: nil, majorFaults: nil, readBytes: nil,
                disturbances: [])
        ]
        let text = text((measurement, summary))
        #expect(text.hasPrefix("starsearcher · 0 of 20 launches · warm"))
        #expect(text.contains("given up: fewer launches count than were asked for"))
        #expect(text.contains("no launch counts\n"))
        #expect(text.contains("w = not proven to be cold (22)"))
        #expect(!text.contains("MEDIAN") && !text.contains(" 0 ms"))
        measurement.launches = []
        #expect(self.text((measurement, summary)).contains("no launch was made\n"))
    }

    @Test(arguments: [
        (Measurement.Ending.complete, ""),
        (.interrupted, "interrupted: only what was measured until then is shown"),
        (.unknown, "measuring was cut short: only what was measured until then is shown"),
    ])
    func endings(ending: Measurement.Ending, words: String) {
        var (measurement, summary) = Measured.single()
        measurement.header.ending = ending
        summary.arms[0].launches = 7
        let text = text((measurement, summary))
        #expect(words.isEmpty || text.contains(words))
        #expect(text.contains("median of 7 of 20 launches"))
    }

    /// 100,000 launches are as many lines as 400.
    @Test func manyLaunches() {
        var (measurement, summary) = Measured.single()
        measurement.launches = (0..<100_000).map { Measured.launch($0, wall: 300) }
        measurement.launches[70_000].wall = .milliseconds(900)
        summary.arms[0].disturbances = []
        let text = text((measurement, summary), width: 120)
        #expect(text.contains("each character stands for 125, and shows the longest that counts"))
        #expect(text.contains("▁ 300.0 ms to █ 900.0 ms"))
        #expect(text.count { $0 == "█" } == 2)
        #expect(text.split(separator: "\n").count < 40)
    }

    @Test func strips() {
        var (measurement, summary) = Measured.single()
        measurement.launches = [100, 150, 200, 125, 100].enumerated().map {
            Measured.launch($0.offset, wall: $0.element)
        }
        let reasons = MeasuredLaunch.Discard.allCases
        measurement.launches += reasons.enumerated().map {
            Measured.launch(5 + $0.offset, wall: 400, discarded: $0.element)
        }
        summary.arms[0].disturbances = []
        let text = text((measurement, summary), width: 250)
        #expect(text.contains("\n   1  ▁▅█▃▁fwxshnir\n"))
        for reason in [
            "f = the first of its program", "x = failed", "s = a different status than most",
            "h = not ready in time (--watchdog)", "n = ended before it was ready",
            "i = interrupted", "r = stacks were taken during it",
        ] {
            #expect(text.contains(reason), "\(reason)")
        }
    }

    @Test func outputOfThoseThatFailed() {
        var (measurement, summary) = Measured.single()
        for index in measurement.launches.indices {
            measurement.launches[index].discarded = .failed
            measurement.launches[index].outcome = .signalled(11)
        }
        measurement.launches[1].output = (1...9).map { "line \($0)\n" }.joined()
        summary.arms[0].disturbances = []
        let text = text((measurement, summary))
        #expect(
            text.contains(
                "launch 1, failed: killed by SIGSEGV (11); it printed nothing\n"))
        #expect(
            text.contains(
                "launch 2, failed: killed by SIGSEGV (11); what it printed last:\n"
                    + "    line 5\n"))
        #expect(!text.contains("line 4"))
        #expect(text.contains("19 launches more failed: see --format json\n"))
    }

    /// Whatever the numbers are, no line is too wide, and nothing traps.
    @Test(arguments: 0..<200) func anyNumbers(seed: UInt64) {
        var generator = SeededNumbers(seed: seed)
        let extremes: [Double] = [
            0, 0.5, 1, -1, 1e3, 99_949, 99_950, 1e9, 1e18, 1e300, -1e300, .nan, .infinity,
            -.infinity, .leastNonzeroMagnitude,
        ]
        func number() -> Double { extremes.randomElement(using: &generator) ?? 0 }
        func distribution() -> Distribution {
            Distribution(
                count: .random(in: 0 ... .max, using: &generator), median: number(),
                interval: .init(low: number(), high: number(), confidence: number()),
                percentile90: number(), minimum: number(), maximum: number())
        }
        var (measurement, summary) = Measured.against()
        measurement.launches[3].wall = TimeSpan(nanoseconds: 1 << 60)
        summary.arms[0].wall = distribution()
        summary.arms[0].phases = (0..<300).map { index in
            PhaseSummary(
                name: "\(index) \u{202E}" + String(repeating: "長", count: 99),
                wall: distribution(), cpu: distribution())
        }
        summary.arms[1].minorFaults = distribution()
        summary.arms[1].readBytes = distribution()
        summary.arms[1].disturbances = [
            .otherWork(share: number(), launches: .max), .stolen(share: number(), launches: 0),
            .frequency(lowest: .min, highest: .max), .drift(share: number()),
            .bimodal(lower: number(), lowerCount: 0, upper: number(), upperCount: .max),
            .outliers([-1, 3, .max]), .readFromDisk(launches: 1),
        ]
        summary.comparison?.change = number()
        summary.comparison?.low = number()
        summary.comparison?.differenceHigh = number()
        summary.comparison?.confidence = number()
        let width = Int.random(in: 60...200, using: &generator)
        let text = text((measurement, summary), width: width)
        #expect(text.split(separator: "\n").allSatisfy { String($0).displayWidth <= width })
        #expect(text.contains("100 more phases: see --format json\n"))
        #expect(!text.contains("\u{202E}"))
        _ = MeasurementReport.json(measurement, summary)
    }
}
