extension RandomAccessCollection where Index == Int {
    /// The position of the first element for which `isPast` holds. It must hold for all later
    /// elements, too.
    @inlinable
    package func partitionIndex(_ isPast: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if isPast(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// The same, searched from a place that is probably near, in steps that double each time.
    @inlinable
    package func partitionIndex(near place: Int, _ isPast: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        let place = Swift.min(Swift.max(place, low), high)
        var step = 1
        if place < high, !isPast(self[place]) {
            low = place + 1
            while high - low > step {
                guard !isPast(self[low + step]) else {
                    high = low + step
                    break
                }
                low += step + 1
                step *= 2
            }
        } else {
            high = place
            while high - low > step {
                guard isPast(self[high - step]) else {
                    low = high - step + 1
                    break
                }
                high -= step
                step *= 2
            }
        }
        return self[low..<high].partitionIndex(isPast)
    }
}
