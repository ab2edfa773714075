/// Finds a value by its rank among very many values, without a list of them.
enum RankSearch {
    /// The `rank`-th smallest value, counted from 1.
    ///
    /// The search halves a range by the bits of a number until that is exactly one of the values.
    /// It takes 64 steps, and each counts the values that are not above the number.
    ///
    /// - Parameters:
    ///   - range: from the smallest value to the largest; all are finite.
    ///   - countNotAbove: the number of values that are not above a limit.
    static func smallest(
        _ rank: Int, in range: ClosedRange<Double>, countNotAbove: (Double) -> Int
    ) -> Double {
        var low = range.lowerBound.ordinal
        var high = range.upperBound.ordinal
        while low < high {
            let middle = low &+ Int64(UInt64(bitPattern: high &- low) / 2)
            if countNotAbove(Double(ordinal: middle)) >= rank {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return Double(ordinal: low)
    }
}

extension Double {
    /// Integers in the order of the numbers that they represent; 0 and -0 have the same.
    fileprivate var ordinal: Int64 {
        let bits = Int64(bitPattern: bitPattern)
        return bits >= 0 ? bits : Int64.min &- bits
    }

    fileprivate init(ordinal: Int64) {
        let bits = ordinal >= 0 ? ordinal : Int64.min &- ordinal
        self.init(bitPattern: UInt64(bitPattern: bits))
    }
}
