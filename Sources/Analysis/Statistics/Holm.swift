/// Answers several questions at once, if the chance of any wrong answer must stay below a limit
/// (Holm 1979). It never answers fewer than dividing the chance equally among all does
/// (Bonferroni).
enum Holm {
    /// - Parameter chances: for each question, the probability of the result if there is no effect.
    /// - Returns: for each question, whether there is an effect.
    static func rejected(_ chances: [Double], chance: Double) -> [Bool] {
        var rejected = [Bool](repeating: false, count: chances.count)
        let order = chances.indices.sorted { chances[$0] < chances[$1] }
        for (place, index) in order.enumerated() {
            guard chances[index] <= chance / Double(chances.count - place) else { break }
            rejected[index] = true
        }
        return rejected
    }
}
