import Analysis
import Report

/// How a gate ended.
enum GateEnding {
    case answered(GateReport, explanation: ProfileComparison?)
    /// There is no answer; the reason was reported.
    case failed(String, status: Int32)

    var status: Int32 {
        switch self {
        case .answered(let report, _): report.result.outcome.status
        // For `measure` this means "gave up"; for a gate it would mean a regression.
        case .failed(_, let status):
            status == OwnStatus.gaveUp ? OwnStatus.failure : status
        }
    }
}

extension GateOutcome {
    fileprivate var status: Int32 {
        switch self {
        case .passed: 0
        case .regression: 1
        case .inconclusive: 3
        }
    }
}
