internal import ProfileModel

/// The addresses that are asked for, ascending, each once.
struct WantedAddresses {
    let all: ArraySlice<UInt64>

    init(sorted: ArraySlice<UInt64>) { all = sorted }

    /// The index of the first address that is not below the given one.
    func first(from address: UInt64) -> Int {
        all.partitionIndex { $0 >= address }
    }

    /// True if any of them is in the range.
    func touch(_ range: Range<UInt64>) -> Bool {
        guard let lowest = all.first, let highest = all.last, range.upperBound > lowest,
            range.lowerBound <= highest
        else { return false }
        let index = first(from: range.lowerBound)
        return index < all.endIndex && all[index] < range.upperBound
    }
}
