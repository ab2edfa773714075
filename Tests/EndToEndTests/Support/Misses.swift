import Testing

/// Figures that are too far from the truth, which the program itself measured. Between its clock
/// reads and ours a busy machine may do other work, so figures may be tried again.
///
/// Nothing else may: anything missing, misnamed or invented fails at once, by `#expect`.
struct Misses: CustomStringConvertible {
    private(set) var list: [String] = []

    var isEmpty: Bool { list.isEmpty }
    var description: String { list.joined(separator: "\n") }

    /// `actual` may differ from `truth` by 3 %, or by `floor` if this is more. In nanoseconds.
    mutating func check(
        _ name: String, _ actual: Int64?, truth: Int64?, floor: Int64 = 3_000_000,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let tolerance = max(floor, (truth ?? 0) * 3 / 100)
        check(name, actual, truth: truth, tolerance: tolerance, sourceLocation: sourceLocation)
    }

    /// If a figure is missing, or 0 instead of plenty, it fails at once.
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

    /// A figure that is too far from the truth by another criterion.
    mutating func add(_ miss: String) { list.append(miss) }

    /// Expects the figures to be near the truth in the best of three attempts: an error in each of
    /// them is not the machine's fault. `make test` reports at its end which tests needed more than
    /// one attempt.
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
