import TestSupport
import Testing

@testable import Analysis

@Suite struct MomentsTests {
    private func moments(_ values: some Sequence<Double>) -> Moments {
        Moments(values)
    }

    private func expectEqual(_ left: Moments, _ right: Moments) {
        #expect(left.count == right.count)
        #expect(abs(left.mean - right.mean) <= 1e-12 * max(1, abs(right.mean)))
        #expect(abs(left.squares - right.squares) <= 1e-9 * max(1, right.squares))
    }

    /// In two passes, as the definition has it.
    @Test(arguments: 0..<20 as Range<UInt64>) func asTheDefinition(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        // Nanoseconds of a launch: large, and close together.
        let values = (0..<Int.random(in: 1...60, using: &random)).map { _ in
            4e9 + Double.random(in: -1e4...1e4, using: &random)
        }
        let mean = values.reduce(0, +) / Double(values.count)
        let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        let found = moments(values)
        #expect(found.count == values.count)
        #expect(abs(found.mean - mean) < 1e-3)
        #expect(abs(found.squares - squares) <= 1e-6 * max(1, squares))
        if values.count > 1 {
            let error = (squares / Double(values.count - 1) / Double(values.count)).squareRoot()
            #expect(abs((found.standardError ?? -1) - error) <= 1e-6 * max(1, error))
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func partsAreTheWhole(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let values = (0..<30).map { _ in Double.random(in: 0...1e9, using: &random) }
        let cut = Int.random(in: 0...values.count, using: &random)
        expectEqual(moments(values[..<cut]) + moments(values[cut...]), moments(values))
        let zeros = values[..<cut] + repeatElement(0, count: 30 - cut)
        expectEqual(moments(values[..<cut]).padded(to: 30), moments(zeros))
        expectEqual(moments(values).padded(to: 3), moments(values))
    }

    @Test func oneValueTellsNothingOfOthers() {
        #expect(Moments().standardError == nil)
        #expect(moments([5]).standardError == nil)
        #expect(moments([5, 5]).standardError == 0)
    }
}
