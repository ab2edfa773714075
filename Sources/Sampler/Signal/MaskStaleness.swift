/// Whether our knowledge of signal masks is still true: threads announce that they are about to
/// change theirs.
struct MaskStaleness {
    private var announced: UInt32 = 0
    private var looks = 0

    /// Checks whether our knowledge of masks may be out of date. Masks change a moment after their
    /// change was announced.
    ///
    /// - Parameter count: the number of announcements so far.
    /// - Returns: whether it may.
    mutating func look(at count: UInt32, threads: Int) -> Bool {
        if count != announced { (announced, looks) = (count, 8 * threads) }
        looks = max(0, looks - 1)
        return looks > 0
    }
}
