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
}
