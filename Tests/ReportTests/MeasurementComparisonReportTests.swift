import Foundation
import ProfileModel
import Testing

@testable import Analysis
@testable import Exports
@testable import Report

@Suite struct MeasurementComparisonReportTests {
    private func report(
        slower: Int64 = 0, name: String = "after.firstlight",
        _ change: (inout ProfileModel.Measurement) -> Void = { _ in }
    ) throws -> MeasurementComparisonReport {
        let before = Measured.single().0
        var after = before
        for index in after.launches.indices {
            let more = TimeSpan.milliseconds(slower)
            after.launches[index].wall = after.launches[index].wall + more
            after.launches[index].phases[1].wall = after.launches[index].phases[1].wall + more
        }
        change(&after)
        let found = try MeasurementComparison(before: before, after: after, anyway: true)
        return MeasurementComparisonReport(found, before: "before.firstlight", after: name)
    }

    @Test func text() throws {
        var options = TextOptions()
        options.width = 100
        let text = try report(slower: 40) { $0.machine.boot = "b2" }.text(options: options)
        try expectSnapshot(text, "measurement-comparison.txt")
        #expect(text.split(separator: "\n").allSatisfy { String($0).displayWidth <= 100 })
    }

    @Test func verdicts() throws {
        #expect(try report(slower: 40).verdict.hasPrefix("after.firstlight is slower than before"))
        #expect(try report(slower: -40).verdict.hasPrefix("after.firstlight is faster than"))
        #expect(try report(slower: 0).verdict.contains("is not slower than"))
        #expect(try report(slower: 11).verdict.hasPrefix("inconclusive: "))
        #expect(try report().grounds[1].contains("not measured in turns"))
    }

    @Test func refusals() {
        #expect(
            MeasurementComparisonReport.text(.mismatches([.kernel(before: "5", after: "6")]))
                .contains("the kernels differ: 5 before, 6 after (--anyway"))
        #expect(MeasurementComparisonReport.text(.nothingMeasured(.before)).contains("before"))
    }

    @Test func json() throws {
        let text = try report(slower: 40, name: MadeMeasurement.evil).json()
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        let object = try #require(value as? [String: Any])
        #expect(object["kind"] as? String == "measurement-comparison")
        #expect(object["interleaved"] as? Bool == false)
        #expect((object["launch"] as? [String: Any])?["differenceNs"] as? Int == 40_000_000)
        #expect((object["phases"] as? [Any])?.count == 2)
    }
}
