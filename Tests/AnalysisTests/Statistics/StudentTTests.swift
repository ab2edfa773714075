import Testing

@testable import Analysis

@Suite struct StudentTTests {
    /// From the tables that everybody has.
    @Test(arguments: [
        (1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (9, 2.262), (10, 2.228),
        (29, 2.045), (30, 2.042), (100, 1.984), (1_000, 1.962), (1_999, 1.961), (100_000, 1.960),
    ]) func quantiles(freedom: Int, value: Double) {
        #expect(abs(StudentT.quantile(within: 0.95, freedom: freedom) - value) < 0.000_6)
    }

    /// With one degree of freedom it is Cauchy's distribution, with two it has no sum.
    @Test(arguments: [0.1, 0.5, 1, 2, 5, 40]) func closedForms(t: Double) {
        let one = StudentT.probability(within: t, freedom: 1)
        #expect(abs(StudentT.quantile(within: one, freedom: 1) - t) < 1e-9 * t * t)
        let two = StudentT.probability(within: t, freedom: 2)
        #expect(abs(two - t / (2 + t * t).squareRoot()) < 1e-12)
    }

    @Test func moreLaunchesAreSurer() {
        let quantiles = (1...2_100).map { StudentT.quantile(within: 0.95, freedom: $0) }
        #expect(zip(quantiles, quantiles.dropFirst()).allSatisfy { $0 >= $1 })
    }
}
