import Testing

@testable import Analysis

@Suite struct StudentTTests {
    /// From tables of the distribution (two-sided).
    @Test(arguments: [
        (12.706, 1.0, 0.05), (4.303, 2, 0.05), (2.776, 4, 0.05), (8.610, 4, 0.001),
        (2.228, 10, 0.05), (4.587, 10, 0.001), (3.646, 30, 0.001), (3.373, 120, 0.001),
        (1.984, 100, 0.05), (0, 7, 1),
    ])
    func asTablesHaveIt(t: Double, freedom: Double, probability: Double) {
        let found = StudentT.probability(ofT: t, freedom: freedom)
        #expect(abs(found - probability) < 0.002 * probability + 1e-12, "\(found)")
        #expect(StudentT.probability(ofT: -t, freedom: freedom) == found)
    }

    /// With one degree of freedom it is Cauchy's, with two it has a closed form, too.
    @Test(arguments: [0.1, 0.5, 1, 2, 10, 1000]) func closedForms(t: Double) {
        let one = StudentT.probability(ofT: t, freedom: 2)
        #expect(abs(one - (1 - t / (2 + t * t).squareRoot())) < 1e-12)
    }

    @Test func samples() {
        let found = StudentT.probability([1, 2, 3, 4, 5], [3, 4, 5, 6, 7])
        // t = -2 with eight degrees of freedom.
        #expect(abs(found - 0.08051623795726) < 1e-9, "\(found)")
        #expect(StudentT.probability([1, 1, 1], [1, 1, 1]) == 1)
        #expect(StudentT.probability([1, 1, 1], [2, 2, 2]) == 0)
        #expect(StudentT.probability([1], [2]) == 1)
        #expect(StudentT.probability([], [1, 2, 3]) == 1)
    }
}
