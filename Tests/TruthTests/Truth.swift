import EndToEndSupport
import Foundation
import Testing

/// A case: figures of ours, each with the truth and how far the two may be apart.
///
/// A figure that is off fails no test: it is a line of the file that TRUTH names, and
/// `scripts/truth-table` decides, which also knows how busy the machine was. What else is wrong throws.
struct Truth {
    /// A line of the file.
    private struct Figure: Encodable {
        var name: String
        var figure: String
        var unit: String
        var truth: Double?
        /// nil: not reported.
        var ours: Double?
        /// The least and the largest value that is right; nil: any.
        var least: Double?
        var most: Double?
        var isOff: Bool
        var othersShare = 0.0
        /// When the case began and ended, on CLOCK_MONOTONIC.
        var startNs: Int64?
        var endNs: Int64?

        enum CodingKeys: String, CodingKey {
            case name = "case"
            case figure, unit, truth, ours, least, most, isOff, othersShare, startNs, endNs
        }
    }

    private let name: String
    private var figures: [Figure] = []

    /// Measures, and writes the figures. They are written, too, if the case fails.
    static func of(_ name: String, _ measure: (inout Truth) throws -> Void) throws {
        guard let path = Setup.environment["TRUTH"] else { throw Setup.Missing(name: "TRUTH") }
        var truth = Truth(name: name)
        let start = MachineLoad()
        defer { truth.write(to: path, from: start, to: MachineLoad()) }
        try measure(&truth)
        try #require(!truth.figures.isEmpty, "the case has no figures")
    }

    private init(name: String) { self.name = name }

    // MARK: Figures

    /// `ours` may differ from `truth` by 3 %, or by `floor` if this is more. In nanoseconds.
    mutating func check(
        _ figure: String, _ ours: Int64?, truth: Int64?, floor: Int64 = 3_000_000
    ) {
        check(figure, ours, truth: truth, tolerance: max(floor, (truth ?? 0) * 3 / 100))
    }

    /// `ours` may differ from `truth` by `tolerance`. A figure that is missing, or 0 instead of plenty,
    /// is not reported. In nanoseconds.
    mutating func check(_ figure: String, _ ours: Int64?, truth: Int64?, tolerance: Int64) {
        let isReported = ours.map { $0 != 0 || abs(truth ?? 0) <= tolerance } ?? false
        add(
            figure, isReported ? ours.map(Double.init) : nil, truth: truth.map(Double.init),
            least: truth.map { Double($0 - tolerance) }, most: truth.map { Double($0 + tolerance) },
            isTold: truth != nil)
    }

    /// In nanoseconds.
    mutating func check(_ figure: String, _ ours: Int64?, isIn range: ClosedRange<Int64>) {
        add(
            figure, ours.map(Double.init), least: Double(range.lowerBound),
            most: range.upperBound == .max ? nil : Double(range.upperBound))
    }

    /// A number with its unit, and its bounds (nil: any).
    mutating func check(
        _ figure: String, _ ours: Double?, unit: String, truth: Double? = nil, least: Double? = nil,
        most: Double? = nil
    ) {
        add(figure, ours, unit: unit, truth: truth, least: least, most: most)
    }

    /// What must be so: a verdict, or something that was seen.
    mutating func check(_ figure: String, isSo: Bool) {
        add(figure, isSo ? 1 : 0, unit: "yes/no", truth: 1, least: 1, most: 1)
    }

    private mutating func add(
        _ figure: String, _ ours: Double?, unit: String = "ns", truth: Double? = nil,
        least: Double?, most: Double?, isTold: Bool = true
    ) {
        let isRight =
            ours.map { $0 >= least ?? -.infinity && $0 <= most ?? .infinity } ?? false
        figures.append(
            Figure(
                name: name, figure: figure, unit: unit, truth: truth, ours: ours, least: least,
                most: most, isOff: !isRight || !isTold))
    }

    private func write(to path: String, from start: MachineLoad?, to end: MachineLoad?) {
        guard let file = fopen(path, "ae") else {
            Issue.record("\(path) cannot be written")
            return
        }
        defer { fclose(file) }
        for var figure in figures {
            figure.othersShare = start.flatMap { end?.othersShare(since: $0) } ?? 0
            (figure.startNs, figure.endNs) = (start?.time, end?.time)
            guard let line = try? JSONEncoder().encode(figure) else { continue }
            fputs(String(decoding: line, as: UTF8.self) + "\n", file)
        }
    }
}
