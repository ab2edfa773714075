import ProfileModel
import Report

@testable import Analysis

/// What Tests/Browser/test_measurement_page.py and test_history_page.py look at.
enum PagesForBrowsers {
    static var all: [(name: String, page: [UInt8])] {
        [
            made("one", eventful()), made("two", MadeMeasurement.measurement(programs: 2)),
            made("hostile", MadeMeasurement.hostile()),
            made("few", MadeMeasurement.measurement(launches: 4)),
            made("many", MadeMeasurement.measurement(launches: 30_000)),
            ("history", HistoryReport.html(MadeHistory.whole)),
            ("history-several", HistoryReport.html(MadeHistory.several)),
            ("history-hostile", HistoryReport.html(MadeHistory.hostile)),
            ("history-long", HistoryReport.html(MadeHistory.long)),
        ]
    }

    /// One of which there is much to tell.
    private static func eventful() -> Measurement {
        var measurement = MadeMeasurement.measurement(launches: 40, seed: 5)
        measurement.launches[7].discarded = .otherStatus
        measurement.launches[7].outcome = .exited(3)
        measurement.launches[7].readyBy = nil
        measurement.launches[7].output = "starsearcher: cannot open the catalogue\n"
        measurement.launches[19].discarded = .hung
        measurement.launches[19].wall = .milliseconds(10_000)
        return measurement
    }

    private static func made(
        _ name: String, _ measurement: Measurement
    ) -> (name: String, page: [UInt8]) {
        var summary = MadeMeasurement.summary(of: measurement)
        if name == "one" {
            summary.arms[0].disturbances = [
                .otherWork(share: 0.124, launches: 5), .drift(share: 0.021), .outliers([12, 30]),
            ]
        }
        return (name, MeasurementPage.html(of: measurement, summary: summary))
    }
}
