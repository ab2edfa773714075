import Foundation

/// The output of `measure --format json`, as far as tests need it.
struct MeasureReport: Decodable {
    struct Launch: Decodable {
        var order: Int
        var arm: Int
        var discarded: String?
        var startNs: Int64
        var wallNs: Int64
        var heldNs: Int64
        var readBytes: Int64?
        var status: Int32?
        var output: String?
        var otherWorkNs: Int64?
    }

    struct Note: Decodable { var kind: String }

    struct Header: Decodable { var ending: String }

    struct Times: Decodable {
        var n: Int
        var medianNs: Double
    }

    struct Phase: Decodable {
        var name: String
        var wall: Times
    }

    struct Started: Decodable {
        struct Count: Decodable { var median: Double }

        var name: String
        var count: Count
        var wall: Times
        var cpu: Times?
    }

    struct Summary: Decodable {
        var wall: Times?
        var phases: [Phase]
        var processes: [Started]

        /// nil: no launch has this phase.
        func median(of phase: String) -> Double? {
            phases.first { $0.name == phase }?.wall.medianNs
        }
    }

    struct Comparison: Decodable { var pairs: Int }

    struct Conditions: Decodable { var cache: String }

    var schema: Int
    var kind: String
    var measurement: Header
    var conditions: Conditions
    var launches: [Launch]
    var summary: Summary
    var summaryAgainst: Summary?
    var comparison: Comparison?
    var notes: [Note]

    init(_ text: String) throws {
        self = try JSONDecoder().decode(MeasureReport.self, from: Data(text.utf8))
    }

    func says(_ kind: String) -> Bool { notes.contains { $0.kind == kind } }

    /// "first", "-", "failed" … in the order of launches.
    var fates: [String] { launches.map { $0.discarded ?? "-" } }
}
