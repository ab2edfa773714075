import ProfileModel
import Testing

@testable import Analysis
@testable import Exports
@testable import Report

/// Whether the page's figures and marks are those of the measurement and its summary.
@Suite struct MeasurementFigureTests {
    private func page(_ measurement: Measurement) -> String {
        String(
            decoding: MeasurementPage.html(
                of: measurement, summary: MadeMeasurement.summary(of: measurement)),
            as: UTF8.self)
    }

    private func section(_ title: String, of page: String) throws -> String {
        try #require(PageText.between("<h2>\(title)</h2>", "</section>", in: page))
    }

    @Test(arguments: [1, 2], [3, 20])
    func theTableHasTheSummary(programs: Int, launches: Int) throws {
        let measurement = MadeMeasurement.measurement(launches: launches, programs: programs)
        let summary = MadeMeasurement.summary(of: measurement)
        var figures: [(ArmSummary) -> Distribution?] = [{ $0.wall }]
        for phase in 0..<4 { figures.append { $0.phases[phase].wall } }
        figures.append { $0.cpu }
        for phase in 0..<4 { figures.append { $0.phases[phase].cpu } }
        figures += [{ $0.mainBlocked }, { $0.minorFaults }, { $0.majorFaults }, { $0.readBytes }]
        var expected: [String] = []
        for distribution in figures.flatMap({ figure in summary.arms.map { figure($0) } }) {
            let known = try #require(distribution)
            let values = [
                known.median, known.interval?.low, known.interval?.high, known.percentile90,
                known.minimum, known.maximum,
            ]
            expected += values.compactMap { $0.map { "\($0)" } }
        }
        let table = try section("Figures", of: page(measurement))
        let shown = PageText.all(between: "<data value=\"", and: "\"", in: table)
        #expect(shown == expected)
    }

    @Test func figuresAreWrittenAsTheyAre() throws {
        let measurement = MadeMeasurement.measurement()
        let table = try section("Figures", of: page(measurement))
        for entry in PageText.all(between: "<data value=\"", and: "</data>", in: table) {
            let parts = entry.split(separator: "\">")
            let value = try #require(Double(String(parts[0])))
            let text = String(parts[1])
            let number = try #require(Double(String(text.prefix { "0123456789.".contains($0) })))
            let scale: Double =
                text.hasSuffix(" ms") ? 1e6 : text.hasSuffix(" µs") ? 1e3 : 1
            #expect(abs(number * scale - value) <= value * 0.0005, "\(entry)")
        }
    }

    @Test func unknownFiguresAreNamedUnknown() throws {
        var measurement = MadeMeasurement.measurement()
        for index in measurement.launches.indices {
            measurement.launches[index].readBytes = nil
            measurement.launches[index].mainBlocked = nil
        }
        let page = page(measurement)
        let table = try section("Figures", of: page)
        #expect(table.contains("Read from disks</th><td class=\"empty\" colspan=\"6\">not known"))
        #expect(!page.contains("Main blocked"))
        let plots = try section("Phases", of: page)
        #expect(!plots.contains("Main thread blocked"))
    }

    @Test(arguments: [1, 2])
    func everyLaunchHasItsMarks(programs: Int) throws {
        let measurement = MadeMeasurement.measurement(launches: 15, programs: programs)
        let page = page(measurement)
        let all = Set((1...measurement.launches.count).map { "\($0)" })
        let counted = all.subtracting((1...programs).map { "\($0)" })
        func marks(_ text: String) -> [String] {
            PageText.all(between: "data-launch=\"", and: "\"", in: text)
        }
        let order = marks(try section("Launches in their order", of: page))
        #expect(order.count == all.count)
        #expect(Set(order) == all)
        let plots = PageText.all(
            between: "<svg", and: "</svg>", in: try section("Phases", of: page))
        // The launch, its phases, CPU, and the main thread blocked.
        #expect(plots.count == 7)
        for plot in plots {
            let shown = marks(plot)
            #expect(shown.count == counted.count)
            #expect(Set(shown) == counted)
        }
        #expect(Set(marks(try section("Distribution", of: page))) == counted)
        let table = try #require(
            PageText.between("<details id=\"launches\">", "</details>", in: page))
        #expect(Set(marks(table)) == all)
    }

    @Test func discardedLaunchesAreToldWithTheirReason() throws {
        var measurement = MadeMeasurement.measurement(launches: 12)
        for (index, reason) in MeasuredLaunch.Discard.allCases.enumerated() {
            measurement.launches[index].discarded = reason
        }
        let page = page(measurement)
        for reason in MeasuredLaunch.Discard.allCases {
            #expect(page.contains("data-reason=\"\(reason.rawValue)\""))
            #expect(page.contains(XML.text("does not count: \(DiscardWords.text(reason))")))
        }
        let crosses =
            try section("Launches in their order", of: page)
            .split(separator: "datum discarded").count - 1
        #expect(crosses == MeasuredLaunch.Discard.allCases.count)
    }

    @Test func theVerdictIsASentence() throws {
        let measurement = MadeMeasurement.measurement(programs: 2)
        var summary = MadeMeasurement.summary(of: measurement)
        func verdict() throws -> String {
            let page = String(
                decoding: MeasurementPage.html(of: measurement, summary: summary), as: UTF8.self)
            return try #require(PageText.between("<p class=\"verdict ", "</p>", in: page))
        }
        #expect(
            try verdict() == "slower\">starsearcher-new is slower than starsearcher-old by more "
                + "than is allowed: +3.8 % (+2.1 % to +5.4 %)")
        summary.comparison?.verdict = .inconclusive
        #expect(try verdict().contains("a change of 1.8 % in four of five trials"))
        for word in Comparison.Verdict.allCases {
            summary.comparison?.verdict = word
            #expect(try verdict().hasPrefix("\(word.rawValue)\">"))
        }
        summary.comparison = nil
        #expect(try verdict().contains("too few launches count to compare"))
    }

    @Test func disturbancesAreToldAtTheTop() throws {
        let measurement = MadeMeasurement.measurement()
        var summary = MadeMeasurement.summary(of: measurement)
        summary.arms[0].disturbances = [
            .otherWork(share: 0.124, launches: 5), .stolen(share: 0.05, launches: 1),
            .frequency(lowest: 1_200_000, highest: 3_400_000), .drift(share: -0.031),
            .bimodal(lower: 41_200_000, lowerCount: 12, upper: 52_000_000, upperCount: 8),
            .outliers([6]), .outliers(Array(0..<12)), .readFromDisk(launches: 2),
        ]
        let page = String(
            decoding: MeasurementPage.html(of: measurement, summary: summary), as: UTF8.self)
        let header = try #require(PageText.between("<header>", "</header>", in: page))
        #expect(
            PageText.all(between: "<p class=\"note\">", and: "</p>", in: header) == [
                "the machine was busy with other work: it had 12.4 % of all cores&#39; time; 5 launches "
                    + "are affected",
                "the hypervisor gave 5.0 % of all cores&#39; time to others; 1 launch is affected",
                "the cores&#39; frequency changed: from 1.20 GHz to 3.40 GHz",
                "launches became faster while they were measured, by 3.1 % of the median in all",
                "there are two kinds of launches: 12 about 41.20 ms, 8 about 52.00 ms; one median "
                    + "cannot describe both",
                "1 launch far from all others (it still counts): number 7",
                "12 launches far from all others (they still count): number 1, 2, 3, 4, 5, 6, "
                    + "7, 8, 9, 10 …",
                "2 launches read from disks, although they should have been warm",
            ])
    }

    @Test func conditionsAndMachineAreTold() throws {
        let page = page(MadeMeasurement.measurement())
        let facts = try #require(PageText.between("<dl", "</dl>", in: page))
        for text in [
            "1.4.2", "warm", "network 3G", "disk at most 1.0 MiB/s", "until listen:8080",
            "AMD EPYC 7B13", "2 cores", "Linux 6.1.0-44-amd64 x86_64", "governor performance",
            "20 count (20 asked for), 1 does not", "2026-11-23 03:09:00 UTC · firstlight 0.1.0",
        ] {
            #expect(facts.contains(text), "\(text)")
        }
    }

    /// One voice: what the text says, the page says, and JSON.
    @Test func theWordsAreThoseOfTheOtherReports() throws {
        let measured = Measured.against()
        let (measurement, summary) = measured
        let page = String(
            decoding: MeasurementPage.html(of: measurement, summary: summary), as: UTF8.self)
        var options = TextOptions()
        options.width = 1_000
        let text = MeasurementReport.text(measurement, summary, options: options)
        let json = MeasurementReport.json(measurement, summary)
        let names = ArmNames(measurement.arms)
        let comparison = try #require(summary.comparison)
        let words = ComparisonWords(comparison: comparison, names: names)
        for sentence in [words.verdict, words.figures] {
            #expect(text.contains(sentence) && page.contains(XML.text(sentence)), "\(sentence)")
        }
        #expect(json.contains("\"\(words.verdict)\""))
        for (arm, figures) in summary.arms.enumerated() {
            let words = DisturbanceWords(measurement: measurement, arm: arm)
            for sentence in figures.disturbances.map(words.text) {
                #expect(text.contains(sentence) && page.contains(XML.text(sentence)), "\(sentence)")
            }
            let wall = try #require(figures.wall)
            for value in [wall.median, wall.minimum, wall.maximum] {
                let shown = Quantity.time.text(value)
                #expect(text.contains(shown) && page.contains(">\(shown)<"), "\(shown)")
            }
        }
        for fact in MeasurementFacts.machine(measurement.machine) {
            #expect(text.contains(fact) && page.contains(XML.text(fact)), "\(fact)")
        }
    }

    // MARK: Names of arms

    @Test(arguments: [
        (["a", "/bin/x"], ["b", "/bin/y"], ["x", "y"]),
        (["a", "/old/x"], ["b", "/new/x"], ["a", "b"]),
        (["x", "/old/x"], ["x", "/new/x"], ["/old/x", "/new/x"]),
        (["x", "/bin/x"], ["x", "/bin/x"], ["x (1)", "x (2)"]),
    ])
    func armsAreToldApart(first: [String], second: [String], labels: [String]) {
        let names = ArmNames([first, second].map { MeasuredArm(command: [$0[0]], path: $0[1]) })
        #expect((0..<3).map { names[$0] } == labels + [""])
        #expect(names.title == labels.joined(separator: " against "))
    }
}
