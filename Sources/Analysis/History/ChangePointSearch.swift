import Glibc

/// Finds the steps of a series as Hunter does (Fleming, Kołaczkowski and others 2023), the origin
/// of Apache Otava: E-divisive in overlapping windows; then every step is compared with the next,
/// and the weakest are dropped. Four things differ.
///
/// - There are windows of many lengths: in a long one, two steps that cancel each other out do not
///   show.
/// - Values are logarithms, and spikes are limited (``SpikeLimits``). A spike widens the spread of
///   its part, and so would hide a step.
/// - A step is at the best fit among many places. So the test's probability is multiplied by their
///   number (Bonferroni).
/// - In the end its place is determined anew: where both levels leave the least of the values
///   unexplained.
///
/// The same values give the same steps. The time is in proportion to their number.
package struct ChangePointSearch {
    private let rule: ChangePointRule
    private let values: [Double]
    /// The values with spikes limited.
    private let calm: [Double]
    private let deviation: Double

    /// - Parameter values: positive and finite; for other values, or too few, the result is empty.
    package static func changes(
        in values: [Double], rule: ChangePointRule = ChangePointRule()
    ) -> [ChangePoint] {
        guard values.count >= rule.least, values.allSatisfy({ $0 > 0 && $0.isFinite }) else {
            return []
        }
        let search = ChangePointSearch(values.map(\.logarithm), rule)
        return search.found().map { change in
            ChangePoint(
                index: change.index, before: exp(change.before), after: exp(change.after),
                probability: change.probability)
        }
    }

    private init(_ values: [Double], _ rule: ChangePointRule) {
        self.rule = rule
        self.values = values
        calm = SpikeLimits.applied(to: values)
        deviation = SpikeLimits.deviation(of: values)
    }

    private func found() -> [ChangePoint] {
        let kept = strongest(of: candidates())
        return strongest(of: placed(kept))
    }

    // MARK: Candidates

    /// Places at which some window has a step, by a test that passes ten times as many.
    private func candidates() -> [Int] {
        var found: Set<Int> = []
        for length in windowLengths {
            for start in stride(from: 0, to: values.count, by: max(1, length / 4)) {
                let end = min(start + length, values.count)
                found.formUnion(splits(of: start..<end))
                if end == values.count { break }
            }
        }
        return found.sorted()
    }

    /// In a long window, two steps that cancel each other out look like none. So for each step
    /// there must be a window that includes little of its neighbours (Kovács, Li, Bühlmann and Munk
    /// 2020).
    private var windowLengths: [Int] {
        let shortest = 2 * rule.leastSegment
        var lengths: [Int] = []
        var length = Double(min(rule.window, values.count))
        while length > Double(shortest) {
            lengths.append(Int(length))
            length /= 2.0.squareRoot()
        }
        return lengths + [shortest]
    }

    private func splits(of range: Range<Int>) -> [Int] {
        var open = [range]
        var found: [Int] = []
        while let part = open.popLast() {
            guard let split = EnergySplit(calm, in: part, least: rule.leastSegment)?.index,
                probability(of: split, in: part) <= 10 * rule.significance
            else { continue }
            found.append(split)
            open += [part.lowerBound..<split, split..<part.upperBound]
        }
        return found
    }

    /// The probability for a step that could as well be at any other place of the range.
    private func probability(of split: Int, in range: Range<Int>) -> Double {
        let places = Double(max(1, range.count - 2 * rule.leastSegment + 1))
        let single = StudentT.probability(
            calm[range.lowerBound..<split], calm[split..<range.upperBound])
        return min(1, single * places)
    }

    // MARK: Choice

    /// Drops the weakest step until all are significant.
    private func strongest(of places: [Int]) -> [ChangePoint] {
        var places = places
        while !places.isEmpty {
            let steps = places.indices.map { step(at: $0, of: places) }
            guard let weakest = weakest(of: steps, places) else { return steps }
            places.remove(at: weakest)
        }
        return []
    }

    private func step(at place: Int, of places: [Int]) -> ChangePoint {
        let range = range(around: place, of: places)
        let split = places[place]
        return ChangePoint(
            index: split,
            before: SortedValues(calm[range.lowerBound..<split])?.median ?? 0,
            after: SortedValues(calm[split..<range.upperBound])?.median ?? 0,
            probability: probability(of: split, in: range))
    }

    /// nil: all stay. Steps next to others are dropped first, then the least certain, then small
    /// ones.
    private func weakest(of steps: [ChangePoint], _ places: [Int]) -> Int? {
        let leastSure = { (one: Int, other: Int) in
            steps[one].probability < steps[other].probability
        }
        let borders = [0] + places + [values.count]
        let crowded = places.indices.filter { place in
            borders[place + 1] - borders[place] < rule.leastSegment
                || borders[place + 2] - borders[place + 1] < rule.leastSegment
        }
        if let found = crowded.max(by: leastSure) { return found }
        if let found = places.indices.max(by: leastSure),
            steps[found].probability > rule.significance
        {
            return found
        }
        func size(_ place: Int) -> Double { abs(steps[place].after - steps[place].before) }
        let smallest = places.indices.min { size($0) < size($1) }
        return smallest.flatMap { size($0) < log1p(rule.magnitude) ? $0 : nil }
    }

    /// From the step before to the step after. Steps that are too near are another guess at the
    /// same step: between them, neither would have enough values.
    private func range(around place: Int, of places: [Int]) -> Range<Int> {
        let (own, least) = (places[place], rule.leastSegment)
        let low = places[..<place].last { own - $0 >= least } ?? 0
        let high = places[place...].first { $0 - own >= least } ?? values.count
        return low..<high
    }

    // MARK: Places

    /// Steps, each moved to its best fit between its neighbours. This runs twice, as a neighbour
    /// may move.
    private func placed(_ steps: [ChangePoint]) -> [Int] {
        var places = steps.map(\.index)
        for _ in 0..<2 {
            for place in places.indices {
                places[place] = best(
                    near: places[place], in: range(around: place, of: places))
            }
        }
        return places
    }

    private func best(near place: Int, in range: Range<Int>) -> Int {
        let low = max(range.lowerBound, place - rule.window)
        let high = min(range.upperBound, place + rule.window)
        let choices = stride(
            from: low + rule.leastSegment, through: high - rule.leastSegment, by: 1)
        var (best, least) = (place, Double.infinity)
        for choice in choices {
            let rest = unexplained(low..<choice) + unexplained(choice..<high)
            if rest < least { (best, least) = (choice, rest) }
        }
        return best
    }

    /// The sum of squared distances from the median; a spike counts as four standard deviations.
    private func unexplained(_ range: Range<Int>) -> Double {
        guard let middle = SortedValues(values[range])?.median else { return 0 }
        let most = 16 * deviation * deviation
        return values[range].reduce(0) { sum, value in
            let square = (value - middle) * (value - middle)
            return sum + (most > 0 ? min(square, most) : square)
        }
    }
}

/// Moves single values that are far from their neighbours closer to these. So a spike is no step,
/// and hides none. A step keeps its place, because most of a value's neighbours are on its own
/// side.
enum SpikeLimits {
    /// The number of neighbours on either side that define a spike: up to three outlying values are
    /// limited, and four are a level of their own. With fewer neighbours, spikes close together
    /// would be taken for steps. With more, a change that lasts for five versions would be taken
    /// for a spike.
    static let reach = 3
    /// The number of neighbours on either side for estimating the scatter: more neighbours give a
    /// better estimate.
    static let breadth = 5
    /// In standard deviations, estimated from the median distance as for a normal distribution.
    static let limit = 2.5

    static func applied(to values: [Double]) -> [Double] {
        let middles = values.indices.map { middle(values, around: $0, reach) }
        let most = limit * deviation(of: values)
        return zip(values, middles).map { min(max($0, $1 - most), $1 + most) }
    }

    /// The usual distance of values from the middle of their neighbours.
    static func deviation(of values: [Double]) -> Double {
        deviation(values.indices.map { values[$0] - middle(values, around: $0, breadth) })
    }

    private static func deviation(_ distances: [Double]) -> Double {
        guard let middle = SortedValues(distances)?.median,
            let spread = SortedValues(distances.map { abs($0 - middle) })
        else { return 0 }
        return 1.4826 * spread.median
    }

    private static func middle(_ values: [Double], around index: Int, _ reach: Int) -> Double {
        // Both ends need as many neighbours; with fewer, two spikes would be the majority there.
        let count = min(2 * reach + 1, values.count)
        let low = min(max(0, index - reach), values.count - count)
        let range = low..<low + count
        return SortedValues(values[range])?.median ?? values[index]
    }
}

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
