import Foundation
import ProfileModel
import Testing

@testable import Analysis
@testable import Report

@Suite struct VersionComparisonReportTests {
    private let request = VersionRequest(
        program: "app", before: "1.0", after: MadeMeasurement.evil, machines: .alike)

    private var wide: TextOptions {
        var options = TextOptions()
        options.width = 200
        return options
    }

    private func report(
        launches: Int = 8, machines: Int = 3, alone: Int = 0, slower: Int64 = 40
    ) throws -> VersionComparisonReport {
        let before = Measured.single().0
        var after = before
        for index in after.launches.indices {
            after.launches[index].wall = after.launches[index].wall + TimeSpan.milliseconds(slower)
        }
        var figures = try MeasurementComparison(before: before, after: after)
        figures.launch.counts = [launches, 8]
        func sessions(_ measurement: ProfileModel.Measurement) -> VersionSessions {
            VersionSessions(
                measurement, sessions: 1, machines: machines, launches: launches, firstDate: 7)
        }
        func member(
            _ side: MeasurementComparison.Side, _ measurement: ProfileModel.Measurement
        ) -> VersionPairs.Member {
            VersionPairs.Member(series: 1, side: side, sessions: sessions(measurement))
        }
        var pairs = try VersionPairs([member(.before, before), member(.after, after)])
        pairs.aloneAfter = alone
        let pair = try #require(pairs.pairs.first)
        return VersionComparisonReport(request, [VersionComparison(pair, figures)], of: pairs)
    }

    @Test func text() throws {
        let text = try report().text(options: wide)
        #expect(text.contains("on machines like "))
        #expect(text.contains("before: 1.0, 8 launches in 1 measurement on 3 machines\n"))
        #expect(text.contains(" is slower than 1.0 by more than is allowed"))
        #expect(text.contains("BEFORE") && text.contains("BOUNDS"))
        #expect(!text.contains("left out") && !text.contains("evenly spaced"))
        #expect(!text.unicodeScalars.contains("\u{1b}"))
        #expect(!(try report(machines: 1).text(options: wide).contains("machines like")))
    }

    @Test func incompleteVersionsAreNamed() throws {
        let text = try report(launches: 2_001, alone: 1).text(options: wide)
        #expect(text.contains("2,000 evenly spaced launches"))
        #expect(text.contains("left out"))
        #expect(text.contains("1 launch of "))
    }

    @Test func json() throws {
        let value = try JSONSerialization.jsonObject(with: Data(try report(alone: 2).json().utf8))
        let object = try #require(value as? [String: Any])
        #expect(object["kind"] as? String == "version-comparison")
        #expect(object["after"] as? String == MadeMeasurement.evil)
        #expect((object["leftOut"] as? [String: Int])?["launches"] == 2)
        let comparisons = try #require(object["comparisons"] as? [[String: Any]])
        let comparison = try #require(comparisons.first)
        #expect(comparison["verdict"] as? String == "slower")
        #expect((comparison["before"] as? [String: Int])?["machines"] == 3)
        #expect(comparison["thinned"] as? Bool == false)
        #expect((comparison["launch"] as? [String: Any])?["differenceNs"] as? Int == 40_000_000)
    }

    @Test func refusals() {
        let words = VersionComparisonReport.text(.mismatches([.kernel(before: "5", after: "6")]))
        #expect(words.contains("the kernels differ: 5 before, 6 after"))
        #expect(!words.contains("--anyway"))
        #expect(VersionComparisonReport.text(.otherArguments).contains("arguments"))
        #expect(VersionComparisonReport.text(.nothingMeasured(.after)).contains("after"))
        #expect(
            VersionComparisonReport.text(.ambiguous("1", ["1.0", "1.1"]))
                == "several versions begin with 1: 1.0, 1.1")
        #expect(VersionComparisonReport.text(.unknown("1\n")).contains("begins with, 1\\u{a}"))
    }
}
