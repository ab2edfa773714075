import Foundation
import ProfileModel
import Testing

@testable import Analysis
@testable import Report

@Suite struct MeasurementJSONTests {
    @Test func single() throws {
        let (measurement, summary) = Measured.single()
        try expectSnapshot(MeasurementReport.json(measurement, summary), "measurement.json")
    }

    @Test func twoArms() throws {
        let (measurement, summary) = Measured.against()
        try expectSnapshot(MeasurementReport.json(measurement, summary), "measurement-against.json")
    }

    private func object(
        _ measured: (ProfileModel.Measurement, MeasurementSummary)
    ) throws -> [String: Any] {
        let json = MeasurementReport.json(measured.0, measured.1)
        return try #require(
            try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    }

    /// The fields that are promised.
    @Test func promisedFields() throws {
        let object = try object(Measured.single())
        #expect(object["schema"] as? Int == 1)
        #expect(object["kind"] as? String == "measurement")
        let conditions = try #require(object["conditions"] as? [String: Any])
        #expect(conditions["cache"] as? String == "warm")
        #expect(conditions["network"] as? String == "3G")
        #expect(conditions["disk"] as? Int == 1 << 20)
        let launches = try #require(object["launches"] as? [[String: Any]])
        #expect(launches.count == 22)
        #expect(launches[0]["discarded"] as? String == "first")
        #expect(launches[1]["discarded"] is NSNull)
        #expect(launches[1]["index"] as? Int == 1 && launches[1]["order"] as? Int == 1)
        #expect(launches[1]["wallNs"] as? Int == 372_000_000)
        #expect(launches[9]["status"] as? Int == 3)
        let phases = try #require(launches[1]["phases"] as? [[String: Any]])
        #expect(phases[0]["cpuNs"] as? Int == 9_000_000)
        #expect(phases[1]["cpuNs"] is NSNull)
        let summary = try #require(object["summary"] as? [String: Any])
        let wall = try #require(summary["wall"] as? [String: Any])
        for (key, value) in [
            ("n", 20), ("medianNs", 372_000_000), ("lowNs", 370_500_000), ("highNs", 373_200_000),
            ("p90Ns", 381_000_000), ("minNs", 368_000_000), ("maxNs", 399_000_000),
        ] {
            #expect(wall[key] as? Int == value, "\(key)")
        }
        #expect(summary["mainBlocked"] is NSNull)
        #expect(object["summaryAgainst"] is NSNull && object["comparison"] is NSNull)
        #expect((object["notes"] as? [Any])?.count == 7)
    }

    /// How launches are cold is a field of its own: most readers ask whether they are.
    @Test(
        arguments: [
            (.warm, "warm", nil), (.cold, "cold", "files"), (.coldCopies, "cold", "copies"),
            (.coldAll, "cold", "all"),
        ]
            as [(MeasuredConditions.Cache, String, String?)])
    func coldness(cache: MeasuredConditions.Cache, word: String, dropped: String?) throws {
        var (measurement, summary) = Measured.single()
        measurement.conditions.cache = cache
        let object = try object((measurement, summary))
        let conditions = try #require(object["conditions"] as? [String: Any])
        #expect(conditions["cache"] as? String == word)
        #expect(conditions["dropped"] as? String == dropped)
    }

    @Test func turns() throws {
        let object = try object(Measured.against())
        let launches = try #require(object["launches"] as? [[String: Any]])
        #expect(launches.map { $0["arm"] as? Int } == (0..<12).map { $0 % 2 })
        #expect(launches.map { $0["index"] as? Int } == (0..<12).map { $0 / 2 })
        #expect(launches.map { $0["order"] as? Int } == (0..<12).map { $0 })
        let comparison = try #require(object["comparison"] as? [String: Any])
        #expect(comparison["verdict"] as? String == "slower")
        #expect(comparison["change"] as? Double == 0.0485)
        #expect(comparison["differenceNs"] as? Int == 5_000_000)
    }

    /// Hostile names stay names.
    @Test func escaping() throws {
        var (measurement, summary) = Measured.single()
        let name = "a\"b\\c\n\u{1B}[31m\u{202E}</script>"
        measurement.launches[0].phases[0].name = name
        measurement.launches[0].output = name
        measurement.machine.host = name
        summary.arms[0].phases[0].name = name
        let json = MeasurementReport.json(measurement, summary)
        #expect(!json.contains("\u{1B}") && !json.contains("\u{202E}"))
        let object = try object((measurement, summary))
        let machine = try #require(object["machine"] as? [String: Any])
        #expect(machine["host"] as? String == name)
    }
}

@Suite struct MeasurementCSVTests {
    @Test func single() throws {
        try expectSnapshot(MeasurementReport.csv(Measured.single().0), "measurement.csv")
    }

    /// The rows of CSV as RFC 4180 has it.
    private func rows(_ text: String) -> [[String]] {
        var rows: [[String]] = [[]]
        var cell = ""
        var isQuoted = false
        var scalars = Array(text.unicodeScalars)[...]
        while let scalar = scalars.popFirst() {
            switch (scalar, isQuoted) {
            case ("\"", true) where scalars.first == "\"":
                cell += "\""
                scalars.removeFirst()
            case ("\"", _): isQuoted.toggle()
            case (",", false):
                rows[rows.count - 1].append(cell)
                cell = ""
            case ("\r", false): continue
            case ("\n", false):
                rows[rows.count - 1].append(cell)
                rows.append([])
                cell = ""
            default: cell.unicodeScalars.append(scalar)
            }
        }
        return rows.dropLast()
    }

    @Test func cells() {
        let (measurement, _) = Measured.single()
        let rows = rows(MeasurementReport.csv(measurement))
        #expect(rows.count == 23)
        #expect(rows.allSatisfy { $0.count == rows[0].count })
        let names = rows[0]
        func cell(_ row: Int, _ name: String) -> String? {
            names.firstIndex(of: name).map { rows[row + 1][$0] }
        }
        #expect(cell(0, "discarded") == "first" && cell(1, "discarded")?.isEmpty == true)
        #expect(cell(1, "wall_ns") == "372000000")
        #expect(cell(1, "frequency_khz")?.isEmpty == true)
        #expect(cell(1, "Main wall_ns") == "362000000")
        #expect(cell(1, "Main cpu_ns")?.isEmpty == true)
        #expect(cell(9, "outcome") == "exited" && cell(9, "outcome_value") == "3")
    }

    @Test(arguments: [
        ("plain", "plain"), ("two words", "two words"), ("a,b", "a,b"), ("say \"x\"", "say \"x\""),
        ("a\r\nb", "a\\u{d}\\u{a}b"), ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"), (" =1", "' =1"), ("\t=1", "\\u{9}=1"), ("＝1", "'＝1"),
        ("=HYPERLINK(\"http://x\",\"y\")", "'=HYPERLINK(\"http://x\",\"y\")"),
        ("\u{1B}[31m", "\\u{1b}[31m"),
    ])
    func texts(name: String, cell: String) {
        var (measurement, _) = Measured.single()
        measurement.launches = Array(measurement.launches.prefix(2))
        measurement.launches[0].phases[0].name = name
        measurement.launches[1].readyBy = name
        let text = MeasurementReport.csv(measurement)
        let rows = rows(text)
        #expect(rows.count == 3)
        #expect(rows[0].contains(cell + " wall_ns"))
        #expect(rows[2].contains(cell))
        #expect(text.split(separator: "\r\n").count == 3)
    }

    /// Each name would be a column of every launch.
    @Test func manyNames() {
        var (measurement, _) = Measured.single()
        let phase = MeasuredPhase(name: "", wall: .milliseconds(1), cpu: .milliseconds(1))
        measurement.launches = (0..<300).map { number in
            var launch = Measured.launch(number, wall: 2)
            launch.phases = [phase, phase]
            launch.phases[0].name = "same"
            launch.phases[1].name = "\(number)"
            return launch
        }
        measurement.launches[0].phases.append(measurement.launches[0].phases[0])
        let rows = rows(MeasurementReport.csv(measurement))
        #expect(rows[0].count == 20 + 2 * 201)
        #expect(rows[0].suffix(2) == ["(other phases) wall_ns", "(other phases) cpu_ns"])
        #expect(rows[300].suffix(2) == ["1000000", "1000000"])
        #expect(rows[1].suffix(2) == ["", ""])
        #expect(rows[1][20] == "2000000")
    }
}

@Suite struct CalendarDateTests {
    /// As `date -u -d @SECONDS` has them.
    @Test(
        arguments: [
            (0, "1970-01-01 00:00:00 UTC"), (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"), (951_868_800, "2000-03-01 00:00:00 UTC"),
            (1_709_164_800, "2024-02-29 00:00:00 UTC"), (4_107_542_399, "2100-02-28 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"), (9_223_372_036, "2262-04-11 23:47:16 UTC"),
            (1_795_403_529, "2026-11-23 03:12:09 UTC"),
        ] as [(Int64, String)])
    func texts(seconds: Int64, text: String) {
        let date = CalendarDate(nanosecondsSince1970: seconds * 1_000_000_000 + 5)
        #expect(date?.text == text)
        #expect(date?.internetText.hasSuffix("Z") == true)
    }

    @Test func noneBefore() { #expect(CalendarDate(nanosecondsSince1970: -1) == nil) }
}
