/// Finds which of many values, counted from one end, is a bound.
enum RankBound {
    /// - Parameters:
    ///   - probabilities: of exactly 0, 1, 2 … values outside of the true centre.
    ///   - allowed: the allowed chance that the bound is wrong.
    /// - Returns: the bound's rank, counted from 1, and its confidence. If even the outermost value
    ///   is wrong more often, it is that value, with its own confidence.
    static func exact(
        _ probabilities: [Double], _ allowed: Double
    ) -> (rank: Int, confidence: Double) {
        var tail = probabilities.first ?? 1
        var rank = 1
        while rank < probabilities.count, tail + probabilities[rank] <= allowed {
            tail += probabilities[rank]
            rank += 1
        }
        return (rank, 1 - tail)
    }
}
