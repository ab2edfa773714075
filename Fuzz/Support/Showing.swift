import Analysis
import Exports
package import ProfileModel
import Report

/// Makes every report of a recording, and forgets it.
package func showEverything(_ recording: Recording) {
    let profile = Profile(recording)
    for view in View.allCases { _ = TextReport.render(profile, view: view) }
    _ = JSONReport.bytes(profile, with: Set(JSONPart.allCases))
    _ = FoldedStacks.render(profile)
}

/// Makes every report of a measurement, and forgets it.
package func showEverything(_ measurement: Measurement) {
    let summary = MeasurementSummary(of: measurement)
    _ = MeasurementReport.text(measurement, summary)
    _ = MeasurementReport.json(measurement, summary)
    _ = MeasurementReport.csv(measurement)
    _ = MeasurementPage.html(of: measurement, summary: summary)
}
