import Glibc

@testable import Analysis

/// Samples as launches give them, in milliseconds.
struct Samples {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func uniform() -> Double { Double.random(in: 0..<1, using: &random) }

    /// Box and Muller's.
    mutating func normal() -> Double {
        (-2 * log(1 - uniform())).squareRoot() * cos(2 * .pi * uniform())
    }

    mutating func exponential() -> Double { -log(1 - uniform()) }

    mutating func values(_ count: Int, of shape: Shape) -> [Double] {
        (0..<count).map { _ in value(shape) }
    }

    /// Distributions with one mode.
    enum Shape: CaseIterable {
        case uniform, normal, logNormal, gamma, exponential, heavyTail
    }

    mutating func value(_ shape: Shape) -> Double {
        switch shape {
        case .uniform: 100 + 10 * uniform()
        case .normal: 100 + 3 * normal()
        case .logNormal: 100 * exp(0.06 * normal())
        case .gamma: 95 + 3 * (exponential() + exponential())
        case .exponential: 95 + 5 * exponential()
        case .heavyTail: 90 + 10 * exp(0.6 * normal())
        }
    }
}
