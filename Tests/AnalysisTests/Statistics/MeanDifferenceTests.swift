import Glibc
import Testing

@testable import Analysis

@Suite struct MeanDifferenceTests {
    /// Of printed tables of the distribution.
    @Test(
        arguments: [
            (0.025, 1, 12.706), (0.025, 2, 4.303), (0.025, 4, 2.776), (0.025, 10, 2.228),
            (0.025, 30, 2.042), (0.05, 5, 2.015), (0.005, 8, 3.355), (0.001, 20, 3.552),
        ] as [(Double, Double, Double)])
    func quantiles(tail: Double, freedom: Double, expected: Double) {
        let found = StudentT.quantile(upperTail: tail, freedom: freedom)
        #expect(abs(found - expected) < 0.001, "\(found)")
        #expect(abs(StudentT.upperTail(found, freedom: freedom) - tail) < 1e-9)
    }

    /// With one degree of freedom it is Cauchy's, with two it has a closed form, with many it is normal.
    @Test(arguments: [0.0, 0.1, 0.7, 1, 2.5, 10, 300])
    func knownForms(t: Double) {
        #expect(abs(StudentT.upperTail(t, freedom: 1) - (0.5 - atan(t) / .pi)) < 1e-12)
        let two = 0.5 - t / (2 * (2 + t * t).squareRoot())
        #expect(abs(StudentT.upperTail(t, freedom: 2) - two) < 1e-12)
        #expect(abs(StudentT.upperTail(t, freedom: 1e7) - StandardNormal.upperTail(t)) < 1e-6)
    }

    @Test func welch() throws {
        // Both by hand: means 3 and 7, variances of the means 0.5 and 2, freedom 6.25 / (0.25/4 + 4/4).
        let found = try #require(
            MeanDifference([3, 5, 7, 9, 11], against: [1, 2, 3, 4, 5]))
        #expect(abs(found.value - 4) < 1e-12)
        let freedom = 6.25 / (0.25 / 4 + 4.0 / 4)
        let reach = StudentT.quantile(upperTail: 0.025, freedom: freedom) * 2.5.squareRoot()
        #expect(abs(found.low - (4 - reach)) < 1e-9 && abs(found.high - (4 + reach)) < 1e-9)
        #expect(found.excludesZero)
        #expect(MeanDifference([1, 9], against: [2, 3])?.excludesZero == false)
    }

    @Test func withoutSpread() throws {
        let sure = try #require(MeanDifference([5, 5], against: [3, 3, 3]))
        #expect(sure.value == 2 && sure.low == 2 && sure.high == 2 && sure.excludesZero)
        #expect(MeanDifference([5, 5], against: [5, 5])?.excludesZero == false)
        #expect(MeanDifference([5], against: [3, 3]) == nil)
        #expect(MeanDifference([], against: [3, 3]) == nil)
        #expect(MeanDifference([5, .infinity], against: [3, 3]) == nil)
    }

    /// The interval holds the true difference as often as it says.
    @Test func coverage() {
        var random = SeededGenerator(seed: 7)
        var held = 0
        let rounds = 4_000
        for _ in 0..<rounds {
            func normal(_ spread: Double) -> Double {
                let (u, v) = (
                    Double.random(in: 1e-12...1, using: &random),
                    Double.random(in: 0...1, using: &random)
                )
                return spread * (-2 * log(u)).squareRoot() * cos(2 * .pi * v)
            }
            let one = (0..<5).map { _ in 10 + normal(1) }
            let two = (0..<8).map { _ in 7 + normal(4) }
            if let found = MeanDifference(one, against: two), found.low <= 3, found.high >= 3 {
                held += 1
            }
        }
        #expect((0.935...0.965).contains(Double(held) / Double(rounds)), "\(held)")
    }
}
