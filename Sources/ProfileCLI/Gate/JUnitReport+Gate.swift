import Analysis
import ProfileModel
import Report

extension JUnitReport {
    init(_ ending: GateEnding, name: String, duration: TimeSpan) {
        let (result, details): (Result, [String]) =
            switch ending {
            case .failed(let reason, _): (.broken(reason), [])
            case .answered(let report, _):
                switch report.result.outcome {
                case .passed: (.passed, [report.verdict] + report.grounds)
                case .regression: (.failed(report.verdict), report.grounds)
                case .inconclusive: (.skipped(report.verdict), report.grounds)
                }
            }
        self.init(
            suite: "firstlight gate", name: name, result: result, duration: duration,
            details: details)
    }
}
