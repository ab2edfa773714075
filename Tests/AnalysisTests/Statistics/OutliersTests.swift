import Testing

@testable import Analysis

@Suite struct OutliersTests {
    @Test func farFromAllOthers() {
        #expect(Outliers.places(in: [100, 101, 99, 140, 100, 102, 98, 60]) == [3, 7])
        #expect(Outliers.places(in: [100, 101, 99, 102, 98]).isEmpty)
        #expect(Outliers.places(in: []).isEmpty)
        #expect(Outliers.places(in: [1, 1, 1, 9]).isEmpty)
    }

    /// A median distance of 0 makes nothing an outlier that hardly differs.
    @Test func equalValues() {
        #expect(Outliers.places(in: [50, 50, 50, 50, 50.1, 50, 51]).isEmpty)
        #expect(Outliers.places(in: [50, 50, 50, 50, 50.1, 50, 70]) == [6])
        #expect(Outliers.places(in: [0, 0, 0, 0, 0]).isEmpty)
    }

    @Test func numbersAtTheEdge() {
        let largest = Double(Int64.max)
        #expect(Outliers.places(in: [-largest, 1, 1, 1, 1, largest]) == [0, 5])
    }

    /// Of samples that have a tail, but no outlier, few have one here.
    @Test(arguments: [Samples.Shape.normal, .logNormal, .gamma, .uniform], [10, 20, 40])
    func falseAlarms(shape: Samples.Shape, count: Int) {
        var samples = Samples(seed: UInt64(count))
        var alarms = 0
        for _ in 0..<1_000
        where !Outliers.places(in: samples.values(count, of: shape)).isEmpty { alarms += 1 }
        #expect(alarms <= 45)
    }
}
