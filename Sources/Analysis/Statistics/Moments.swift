import ProfileModel

/// The mean and the scatter of values, without keeping them (Welford 1962; for joining two parts,
/// Chan, Golub and LeVeque 1979).
struct Moments: Hashable, Sendable {
    private(set) var count = 0
    private(set) var mean = 0.0
    /// The sum of the squares of the distances from the mean.
    private(set) var squares = 0.0

    init() {}

    /// - Parameter squares: of the distances from the mean, added up.
    init(of count: Int, sum: TimeSpan, squares: Double) {
        guard count > 0 else { return }
        self.count = count
        mean = Double(sum.nanoseconds) / Double(count)
        self.squares = squares
    }

    init(_ values: some Sequence<Double>) {
        for value in values { add(value) }
    }

    mutating func add(_ value: Double) {
        count += 1
        let distance = value - mean
        mean += distance / Double(count)
        squares += distance * (value - mean)
    }

    static func + (left: Moments, right: Moments) -> Moments {
        guard left.count > 0 else { return right }
        guard right.count > 0 else { return left }
        var result = Moments()
        result.count = left.count + right.count
        let share = Double(right.count) / Double(result.count)
        let distance = right.mean - left.mean
        result.mean = left.mean + distance * share
        result.squares =
            left.squares + right.squares + distance * distance * Double(left.count) * share
        return result
    }

    /// The same with zeros added until there are `count` values.
    func padded(to count: Int) -> Moments {
        guard count > self.count else { return self }
        var zeros = Moments()
        zeros.count = count - self.count
        return self + zeros
    }

    /// The variance of means of this many values; nil: one value shows no scatter.
    var varianceOfMean: Double? {
        guard count > 1 else { return nil }
        return max(0, squares) / Double(count - 1) / Double(count)
    }

    /// The square root of the variance of the mean.
    var standardError: Double? { varianceOfMean?.squareRoot() }
}
