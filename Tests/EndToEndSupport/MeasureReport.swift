import Foundation

/// The output of `measure --format json`, as far as tests need it.
package struct MeasureReport: Decodable {
    package struct Launch: Decodable {
        package var order: Int
        package var arm: Int
        package var discarded: String?
        package var startNs: Int64
        package var wallNs: Int64
        package var heldNs: Int64
        package var readBytes: Int64?
        package var status: Int32?
        package var output: String?
        package var otherWorkNs: Int64?
    }

    package struct Note: Decodable { package var kind: String }

    package struct Header: Decodable { package var ending: String }

    package struct Times: Decodable {
        package var n: Int
        package var medianNs: Double
    }

    package struct Phase: Decodable {
        package var name: String
        package var wall: Times
    }

    package struct Started: Decodable {
        package struct Count: Decodable { package var median: Double }

        package var name: String
        package var count: Count
        package var wall: Times
        package var cpu: Times?
    }

    package struct Summary: Decodable {
        package var wall: Times?
        package var phases: [Phase]
        package var processes: [Started]

        /// nil: no launch has this phase.
        package func median(of phase: String) -> Double? {
            phases.first { $0.name == phase }?.wall.medianNs
        }
    }

    package struct Comparison: Decodable { package var pairs: Int }

    package struct Conditions: Decodable { package var cache: String }

    package var schema: Int
    package var kind: String
    package var measurement: Header
    package var conditions: Conditions
    package var launches: [Launch]
    package var summary: Summary
    package var summaryAgainst: Summary?
    package var comparison: Comparison?
    package var notes: [Note]

    package init(_ text: String) throws {
        self = try JSONDecoder().decode(MeasureReport.self, from: Data(text.utf8))
    }

    package func says(_ kind: String) -> Bool { notes.contains { $0.kind == kind } }

    /// "first", "-", "failed" … in the order of launches.
    package var fates: [String] { launches.map { $0.discarded ?? "-" } }
}
