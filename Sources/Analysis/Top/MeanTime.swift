package import ProfileModel

/// A time per launch: the mean of launches, and its margin.
package struct MeanTime: Hashable, Sendable {
    package var mean: TimeSpan
    /// Half of the interval that contains the true mean with ``confidence``, by Student's t, in
    /// nanoseconds. The mean is in its middle. nil: a single launch shows no spread.
    package var margin: TimeSpan?

    package static let confidence = 0.95

    init(mean: TimeSpan, margin: TimeSpan? = nil) {
        (self.mean, self.margin) = (mean, margin)
    }

    /// nil: there is no launch.
    init?(_ moments: Moments, _ quantiles: inout StudentQuantiles) {
        guard moments.count > 0 else { return nil }
        mean = TimeSpan(rounding: moments.mean)
        margin = moments.standardError.map {
            TimeSpan(rounding: $0 * quantiles[moments.count - 1])
        }
    }
}

/// The quantiles of ``StudentT`` for ``MeanTime/confidence``, each computed once.
struct StudentQuantiles {
    private var known: [Int: Double] = [:]

    subscript(freedom: Int) -> Double {
        mutating get {
            if let known = known[freedom] { return known }
            let value = StudentT.quantile(
                upperTail: (1 - MeanTime.confidence) / 2, freedom: Double(freedom))
            known[freedom] = value
            return value
        }
    }
}

extension TimeSpan {
    /// Rounded to whole nanoseconds; a value out of range becomes the nearest limit.
    init(rounding nanoseconds: Double) {
        let rounded = nanoseconds.rounded()
        self.init(nanoseconds: Int64(exactly: rounded) ?? (rounded > 0 ? .max : .min))
    }
}
