internal import ProfileModel

/// The addresses that are asked about, ascending, each once.
struct WantedAddresses {
    let all: ArraySlice<UInt64>

    init(sorted: ArraySlice<UInt64>) { all = sorted }

    /// The index of the first one that is not below an address.
    func first(from address: UInt64) -> Int {
        all.partitionIndex { $0 >= address }
    }

    /// Whether any lies in a range.
    func touch(_ range: Range<UInt64>) -> Bool {
        guard let lowest = all.first, let highest = all.last, range.upperBound > lowest,
            range.lowerBound <= highest
        else { return false }
        let index = first(from: range.lowerBound)
        return index < all.endIndex && all[index] < range.upperBound
    }
}
