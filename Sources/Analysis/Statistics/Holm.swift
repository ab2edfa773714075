/// Several questions at once: says which of them are answered, if the chance of any wrong answer
/// must stay below a limit (Holm 1979). It never answers fewer than dividing the chance among all
/// does (Bonferroni).
enum Holm {
    /// - Parameter chances: for each question, how likely the result is if there is nothing to
    ///   find.
    /// - Returns: for each question, whether there is something.
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
