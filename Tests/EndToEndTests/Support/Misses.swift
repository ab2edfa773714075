import Testing

/// Figures that are too far from the truth. The truth is what the program itself measured, but between
/// its clock reads and ours a busy machine may do other work: figures may be tried again.
///
/// Nothing else may: what is missing, named wrongly or made up fails the first time, by `#expect`.
struct Misses: CustomStringConvertible {
    private(set) var list: [String] = []

    var isEmpty: Bool { list.isEmpty }
    var description: String { list.joined(separator: "\n") }

    /// `actual` may differ from `truth` by 3 %, or by `floor` where that is more. In nanoseconds.
    mutating func check(
        _ name: String, _ actual: Int64?, truth: Int64?, floor: Int64 = 3_000_000,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let tolerance = max(floor, (truth ?? 0) * 3 / 100)
        check(name, actual, truth: truth, tolerance: tolerance, sourceLocation: sourceLocation)
    }

    /// A figure that is not there, or 0 where there was plenty, is nothing to be tried again.
    mutating func check(
        _ name: String, _ actual: Int64?, truth: Int64?, tolerance: Int64,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard let actual, let truth, actual != 0 || truth <= tolerance else {
            Issue.record(
                "\(name): \(truth == nil ? "no truth" : "not reported")",
                sourceLocation: sourceLocation)
            return
        }
        if abs(actual - truth) > tolerance {
            list.append("\(name): \(actual) ns is not \(truth) ± \(tolerance) ns")
        }
    }

    /// A figure that is too far from the truth by a measure of its own.
    mutating func add(_ miss: String) { list.append(miss) }

    /// Expects the figures to be near the truth at the best of three attempts: what is wrong each
    /// time is not the machine's fault. Attempts after the first are told at the end of `make test`.
    static func afterAttempts(
        sourceLocation: SourceLocation = #_sourceLocation, _ attempt: () throws -> Misses
    ) rethrows {
        var misses = try attempt()
        for _ in 2...3 where !misses.isEmpty {
            Repeats.note("attempt", misses)
            misses = try attempt()
        }
        guard !misses.isEmpty else { return }
        Repeats.note("timings", misses)
        Issue.record("\(misses)", sourceLocation: sourceLocation)
    }
}
