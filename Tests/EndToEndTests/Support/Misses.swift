/// Figures that are too far from the truth.
struct Misses: CustomStringConvertible {
    private(set) var list: [String] = []

    var isEmpty: Bool { list.isEmpty }
    var description: String { list.joined(separator: "\n") }

    /// `actual` may differ from `truth` by 3 %, or by `floor` where that is more. In nanoseconds.
    mutating func check(
        _ name: String, _ actual: Int64?, truth: Int64?, floor: Int64 = 3_000_000
    ) {
        guard let actual, let truth else {
            list.append("\(name): \(actual == nil ? "not reported" : "no truth")")
            return
        }
        let tolerance = max(floor, truth * 3 / 100)
        if abs(actual - truth) > tolerance {
            list.append("\(name): \(actual) ns is not \(truth) ± \(tolerance) ns")
        }
    }

    /// A figure that is too far from the truth by a measure of its own.
    mutating func add(_ miss: String) { list.append(miss) }

    /// What is left of them at the best of three attempts: the truth is what the program itself
    /// measured, but between its clock reads and ours a busy machine may do other work. What is
    /// wrong each time is not the machine's fault.
    static func afterAttempts(_ attempt: () throws -> Misses) rethrows -> Misses {
        var misses = Misses()
        for _ in 1...3 {
            misses = try attempt()
            if misses.isEmpty { break }
        }
        return misses
    }
}
