/// The launches of one pair: each arm once. With one arm, each launch is a pair of its own.
package struct LaunchPair: Hashable, Sendable {
    /// In the order of the launches; not empty.
    package var arms: [Int]
    package var padding: EnvironmentPadding

    package init(arms: [Int], padding: EnvironmentPadding) {
        self.arms = arms
        self.padding = padding
    }
}

/// How the arms of a measurement take turns.
package protocol ArmOrder: Sendable {
    mutating func nextPair() -> LaunchPair
}
