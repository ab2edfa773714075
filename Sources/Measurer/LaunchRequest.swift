/// A launch that is to be made next.
package struct LaunchRequest: Hashable, Sendable {
    /// Which of the measurement's arms.
    package var arm: Int
    /// Its place among all launches that were made, from 0.
    package var index: Int
    /// The pair that it belongs to, from 0. Of one arm, each launch is a pair of its own. nil: it
    /// comes before the pairs, and is thrown away.
    package var pair: Int?
    /// What is added to the program's environment.
    package var padding: EnvironmentPadding

    package init(arm: Int, index: Int, pair: Int?, padding: EnvironmentPadding) {
        self.arm = arm
        self.index = index
        self.pair = pair
        self.padding = padding
    }
}

/// A variable that moves the program's stack. Where the stack begins depends on how large the
/// environment is, and speed depends on where it begins: a measurement under one size is biased
/// (Mytkowicz and others, "Producing wrong data without doing anything obviously wrong", 2009).
/// So the size differs from pair to pair, and is the same for both launches of a pair.
package struct EnvironmentPadding: Hashable, Sendable {
    package static let name = "FIRSTLIGHT_LAYOUT"
    /// Of its value, in bytes.
    package var size: Int

    package init(size: Int) { self.size = size }

    package var value: String { String(repeating: "0", count: size) }
    /// As the environment has it.
    package var entry: String { Self.name + "=" + value }
}
