import ProfileModel
import Testing

@testable import Analysis
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

    @Test func whatIsNotKnownIsSaidToBe() throws {
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
            #expect(page.contains(XML.text("does not count: \(PageWords.reason(reason))")))
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
            try verdict() == "slower\">starsearcher-new is slower than starsearcher-old: +3.8 %, "
                + "between +2.1 % and +5.4 %, in 20 pairs.")
        summary.comparison?.verdict = .inconclusive
        #expect(try verdict().contains("a change of 1.8 % in four of five trials"))
        for word in Comparison.Verdict.allCases {
            summary.comparison?.verdict = word
            #expect(try verdict().hasPrefix("\(word.rawValue)\">"))
        }
        summary.comparison = nil
        #expect(try verdict().contains("too few launches of both"))
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
                "Other work on the machine had 12.4 % of all cores&#39; time; in 5 launches it was much.",
                "The hypervisor gave 5.0 % of all cores&#39; time to others; in 1 launch it was much.",
                "The cores&#39; frequency changed between 1.20 GHz and 3.40 GHz.",
                "Launches became faster from the first to the last, by 3.1 % of the median.",
                "There are two kinds of launches: 12 near 41.20 ms, 8 near 52.00 ms. The median "
                    + "alone tells of neither.",
                "Launch 7 lies far from all others; it is counted.",
                "Launches 1, 2, 3, 4, 5, 6, 7, 8 and 4 more lie far from all others; they are "
                    + "counted.",
                "2 launches read from a disk though all should have been warm.",
            ])
    }

    @Test func conditionsAndMachineAreTold() throws {
        let page = page(MadeMeasurement.measurement())
        let facts = try #require(PageText.between("<dl", "</dl>", in: page))
        for text in [
            "1.4.2", "warm", "network: 3G", "disk: at most 1.0 MiB a second", "until listen:8080",
            "AMD EPYC 7B13", "2 cores", "Linux 6.1.0-44-amd64 x86_64", "governor performance",
            "20 count (20 asked for), 1 does not", "by firstlight 0.1.0",
            "2026-11-23 03:09 UTC",
        ] {
            #expect(facts.contains(text), "\(text)")
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
        let arms = [first, second].map { MeasuredArm(command: [$0[0]], path: $0[1]) }
        #expect(PageModel.labels(of: arms) == labels)
    }
}
