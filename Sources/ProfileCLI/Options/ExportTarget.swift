package import Exports
package import Report

/// The format of an export.
package enum ExportTarget: Hashable, Sendable {
    case profile(ExportFormat)
    /// Plain tables for SQL.
    case tables
    /// Figures of one or many recordings and measurements.
    case metrics(MetricsFormat)

    private static let tablesName = "sqlite"

    package static let names =
        ExportFormat.allCases.map(\.rawValue) + [tablesName]
        + MetricsFormat.allCases.map(\.rawValue)

    package init?(_ name: String) {
        if name == Self.tablesName {
            self = .tables
        } else if let format = ExportFormat(rawValue: name) {
            self = .profile(format)
        } else if let format = MetricsFormat(rawValue: name) {
            self = .metrics(format)
        } else {
            return nil
        }
    }
}
