extension RandomAccessCollection where Index == Int {
    /// The position of the first element for which `isPast` holds, where it holds for all that
    /// follow it, too.
    @inlinable
    package func partitionIndex(_ isPast: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if isPast(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// The same, sought from a place that is most likely near it: in steps each of which is twice as
    /// long as the one before.
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
