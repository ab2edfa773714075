/// The next launch to make.
package struct LaunchRequest: Hashable, Sendable {
    /// The index of the measurement's arm.
    package var arm: Int
    /// Its index among all launches, from 0.
    package var index: Int
    /// The pair that it belongs to, from 0. With one arm, each launch is a pair of its own. nil: it
    /// comes before the pairs, and is discarded.
    package var pair: Int?
    /// A variable that is added to the program's environment.
    package var padding: EnvironmentPadding

    package init(arm: Int, index: Int, pair: Int?, padding: EnvironmentPadding) {
        self.arm = arm
        self.index = index
        self.pair = pair
        self.padding = padding
    }
}

/// A variable that moves the program's stack. The stack begins at a place that depends on the size
/// of the environment, and the program's speed depends on that place. So a measurement with only
/// one size is biased (Mytkowicz and others, "Producing wrong data without doing anything obviously
/// wrong", 2009). We vary the size from pair to pair, and keep it the same for both launches of a
/// pair.
package struct EnvironmentPadding: Hashable, Sendable {
    package static let name = "FIRSTLIGHT_LAYOUT"
    /// The size of its value, in bytes.
    package var size: Int

    package init(size: Int) { self.size = size }

    package var value: String { String(repeating: "0", count: size) }
    /// The word for the environment.
    package var entry: String { Self.name + "=" + value }
}
