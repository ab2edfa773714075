/// The order in which two arms take turns: blocks of four launches, ABBA or BAAB at random, without
/// an end.
///
/// Both arms meet the same machine. A steady trend adds the same to both arms within a block.
/// Chance decides which arm goes first, so no periodic disturbance can favour one. Launches 2k and
/// 2k + 1 are a pair. The same seed gives the same order.
package struct PairedOrder: Sequence, IteratorProtocol, Sendable {
    private var generator: SeededGenerator
    /// The rest of the block, backwards.
    private var rest: [Turn] = []
    private var pairs = 0

    package init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// One launch.
    package struct Turn: Hashable, Sendable {
        /// 0 or 1.
        package var arm: Int
        /// Counted from 0.
        package var pair: Int
        /// How many bytes longer the environment of both launches of the pair should be, from 0 to
        /// 4,080. It moves the stack, which can make one build faster than the other by chance
        /// (Mytkowicz et al. 2009). It differs from pair to pair, so this averages out.
        package var padding: Int
    }

    /// Never nil.
    package mutating func next() -> Turn? {
        if rest.isEmpty { rest = block().reversed() }
        return rest.popLast()
    }

    /// The order of a number of pairs; for an odd number, half of the last block.
    package static func turns(pairs: Int, seed: UInt64) -> [Turn] {
        Array(PairedOrder(seed: seed).prefix(2 * Swift.max(0, pairs)))
    }

    private mutating func block() -> [Turn] {
        let first = Int(generator.next() >> 63)
        let pads = (0..<2).map { _ in 16 * Int(generator.next() >> 56) }
        defer { pairs += 2 }
        return [first, 1 - first, 1 - first, first].enumerated().map { place, arm in
            Turn(arm: arm, pair: pairs + place / 2, padding: pads[place / 2])
        }
    }
}
