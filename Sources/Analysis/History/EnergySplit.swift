/// Finds the place at which values divide into the two parts that differ most, by Székely and
/// Rizzo's energy statistic with absolute distances, as E-divisive does (Matteson and James 2014).
struct EnergySplit {
    /// The first value of the second part.
    var index: Int
    /// The difference between the parts.
    var energy: Double

    /// Takes time quadratic in the range's length, which should be that of a window.
    ///
    /// - Parameter least: the least number of values in each part.
    /// - Returns: nil: the range is too short to be split.
    init?(_ values: [Double], in range: Range<Int>, least: Int) {
        let part = max(least, 2)
        guard range.count >= 2 * part else { return nil }
        let whole = Self.distances(values, of: range.lowerBound, in: range)
        var total = whole
        for index in range.dropFirst() {
            total += Self.distances(values, of: index, in: index..<range.upperBound)
        }
        var (left, right) = (0.0, total)
        var best: (index: Int, energy: Double)?
        for split in range.lowerBound + 1...range.upperBound - part {
            let moved = split - 1
            left += Self.distances(values, of: moved, in: range.lowerBound..<moved)
            right -= Self.distances(values, of: moved, in: split..<range.upperBound)
            guard split - range.lowerBound >= part else { continue }
            let (n, m) = (Double(split - range.lowerBound), Double(range.upperBound - split))
            let across = (total - left - right) / (n * m)
            let energy =
                n * m / (n + m)
                * (2 * across - 2 * left / (n * (n - 1)) - 2 * right / (m * (m - 1)))
            if energy > best?.energy ?? -.infinity { best = (split, energy) }
        }
        guard let best else { return nil }
        (index, energy) = best
    }

    private static func distances(
        _ values: [Double], of index: Int, in range: Range<Int>
    ) -> Double {
        var sum = 0.0
        for other in range { sum += abs(values[other] - values[index]) }
        return sum
    }
}
