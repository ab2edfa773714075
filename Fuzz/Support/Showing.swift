import Analysis
package import ProfileModel
import Report

/// Makes every report of a recording, and forgets it.
package func showEverything(_ recording: Recording) {
    let profile = Profile(recording)
    for view in View.allCases { _ = TextReport.render(profile, view: view) }
    _ = JSONReport.render(profile)
    _ = FoldedStacks.render(profile)
}
