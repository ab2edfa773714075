/// Measures how far values are from having one mode: Hartigan and Hartigan's dip ("The dip test of
/// unimodality", Annals of Statistics 13, 1985), the largest distance between their distribution
/// and the nearest one with a single mode, whatever its shape.
struct Dip {
    /// From 0 to 0.25.
    let value: Double
    private let count: Int

    /// With more values, this many at even ranks are used, which is enough to detect a mode.
    static let limit = 1_000

    init(_ sorted: SortedValues) {
        let values = Self.thinned(sorted.values)
        count = values.count
        value = Steps(values).distance() / Double(2 * values.count)
    }

    private static func thinned(_ values: [Double]) -> [Double] {
        guard values.count > limit else { return values }
        return (0..<limit).map { values[$0 * (values.count - 1) / (limit - 1)] }
    }

    /// Whether fewer than one in a hundred samples of a distribution with one mode have such a dip.
    /// That holds for the uniform distribution. For distributions with a peak, like those of
    /// launches, it is far fewer.
    var isSignificant: Bool {
        guard let row = Self.critical.lastIndex(where: { $0.count <= count }) else { return false }
        let (low, high) = (
            Self.critical[row], Self.critical[min(row + 1, Self.critical.count - 1)]
        )
        let part =
            low.count == high.count
            ? 0 : Double(count - low.count) / Double(high.count - low.count)
        let limit = low.scaled + part * (high.scaled - low.scaled)
        return value * Double(count).squareRoot() > limit
    }

    /// The 99th percentile of the dip of uniform samples, times the square root of their count:
    /// simulated with the authors' algorithm, accurate to one hundredth.
    private static let critical: [(count: Int, scaled: Double)] = [
        (8, 0.4903), (10, 0.5039), (12, 0.5156), (16, 0.5282), (20, 0.5403), (30, 0.5560),
        (50, 0.5681), (100, 0.5853), (300, 0.6140), (1_000, 0.6166),
    ]
}

/// The steps of a distribution function, in counts, at each value that occurs.
private struct Steps {
    private var values: [Double] = []
    /// The number of values that are smaller, and of those that are not larger.
    private var below: [Double] = []
    private var upTo: [Double] = []

    init(_ sorted: [Double]) {
        for (index, value) in sorted.enumerated() {
            if value != values.last {
                values.append(value)
                below.append(Double(index))
                upTo.append(0)
            }
            upTo[upTo.count - 1] = Double(index + 1)
        }
    }

    /// Twice the distance to the nearest distribution with one mode, in counts.
    ///
    /// Such a distribution is convex before its mode and concave after it. So: draw the greatest
    /// convex function below the steps and the least concave one above; where they are farthest
    /// apart, the mode's interval begins or ends; do the same within that interval, until the two
    /// are no farther apart than the steps already are from the parts outside. The step at the mode
    /// itself is no distance, however high.
    func distance() -> Double {
        var (first, last) = (0, values.count - 1)
        var distance = 1.0
        while first < last {
            let convex = Hull(values, below, first...last, turn: 1)
            let concave = Hull(values, upTo, first...last, turn: -1)
            guard let (gap, start, end) = widest(convex, concave), gap > distance else { break }
            for index in first..<start {
                distance = max(distance, upTo[index] - convex.heights[index - first])
            }
            for index in end + 1..<last + 1 {
                distance = max(distance, concave.heights[index - first] - below[index])
            }
            guard start > first || end < last else { break }
            (first, last) = (start, end)
        }
        return distance
    }

    /// The largest gap, and the corners of the two hulls between which the mode's interval lies.
    private func widest(_ convex: Hull, _ concave: Hull) -> (gap: Double, start: Int, end: Int)? {
        var widest: (gap: Double, start: Int, end: Int)?
        var end = 0
        for corner in convex.corners {
            while concave.corners[end] < corner { end += 1 }
            let gap = concave.height(corner) - below[corner]
            if gap > widest?.gap ?? 0 { widest = (gap, corner, concave.corners[end]) }
        }
        var start = convex.corners.count - 1
        for corner in concave.corners.reversed() {
            while convex.corners[start] > corner { start -= 1 }
            let gap = upTo[corner] - convex.height(corner)
            if gap > widest?.gap ?? 0 { widest = (gap, convex.corners[start], corner) }
        }
        return widest
    }
}

/// The greatest convex function below points (`turn` 1), or the least concave one above (-1).
private struct Hull {
    /// The points that it touches and turns at, the ends included.
    var corners: [Int] = []
    /// At each of the points.
    var heights: [Double] = []
    private let first: Int

    init(_ x: [Double], _ y: [Double], _ range: ClosedRange<Int>, turn: Double) {
        first = range.lowerBound
        for point in range {
            while corners.count >= 2 {
                let (before, corner) = (corners[corners.count - 2], corners[corners.count - 1])
                let slope = (y[corner] - y[before]) / (x[corner] - x[before])
                let next = (y[point] - y[corner]) / (x[point] - x[corner])
                guard (next - slope) * turn <= 0 else { break }
                corners.removeLast()
            }
            corners.append(point)
        }
        heights.reserveCapacity(range.count)
        for (corner, next) in zip(corners, corners.dropFirst()) {
            let slope = (y[next] - y[corner]) / (x[next] - x[corner])
            for point in corner..<next {
                heights.append(y[corner] + slope * (x[point] - x[corner]))
            }
        }
        heights.append(y[range.upperBound])
    }

    func height(_ point: Int) -> Double { heights[point - first] }
}
