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
