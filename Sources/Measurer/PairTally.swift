/// Which launches form pairs that count.
struct PairTally: Hashable, Sendable {
    /// The number of launches in a pair.
    let arms: Int
    /// The current pair, from 0; nil: the discarded first launches.
    private(set) var current: Int?
    /// How many pairs count.
    private(set) var counted = 0
    /// How many launches of each pair count.
    private var good: [Int] = []
    /// The pair of each launch that counts, by the launch's index.
    private var pairOf: [Int: Int] = [:]

    init(arms: Int) { self.arms = arms }

    mutating func begin() {
        current = good.count
        good.append(0)
    }

    /// True if one of the current pair's launches counts.
    var hasBegun: Bool { current.map { good[$0] > 0 } ?? false }

    mutating func noteGood(_ launch: Int) {
        guard let current else { return }
        pairOf[launch] = current
        good[current] += 1
        if good[current] == arms { counted += 1 }
    }

    /// A launch that counted does not count after all.
    mutating func takeOut(_ launch: Int) {
        guard let pair = pairOf.removeValue(forKey: launch) else { return }
        if good[pair] == arms { counted -= 1 }
        good[pair] -= 1
    }
}
