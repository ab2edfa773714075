import Analysis
import Measurer
import ProfileModel

/// The order of the procedure (``PairedOrder``), in pairs.
struct PairedTurns: ArmOrder {
    private let arms: Int
    private var order: PairedOrder

    init(arms: Int, seed: UInt64) {
        self.arms = arms
        order = PairedOrder(seed: seed)
    }

    mutating func nextPair() -> LaunchPair {
        guard let first = order.next(), let second = order.next() else {
            return LaunchPair(arms: Array(0..<arms), padding: EnvironmentPadding(size: 0))
        }
        return LaunchPair(
            arms: arms == 1 ? [0] : [first.arm, second.arm],
            padding: EnvironmentPadding(size: first.padding))
    }
}
