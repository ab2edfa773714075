/// A hash table from pairs of small integers to list positions, for building trees: with
/// `Dictionary`, hashing alone took a third of a profile's building time.
///
/// Open addressing with linear probing. The hash is not seeded: keys are positions in our own
/// lists, which the input does not choose, and the same recording takes the same time.
struct PairMap: Sendable {
    private struct Slot {
        var first: Int32
        var second: Int32
        var value: Int32
    }

    private static let empty = Slot(first: 0, second: 0, value: -1)
    /// A power of two long, and at most half full.
    private var slots = [Slot](repeating: empty, count: 64)
    private var count = 0

    /// The value of a pair. A pair without a value gets `new`; the result also says whether it did.
    ///
    /// - Parameter new: not negative.
    mutating func value(
        of first: Int32, _ second: Int32, orInsert new: Int32
    ) -> (value: Int32, isNew: Bool) {
        let place = place(of: first, second)
        if slots[place].value >= 0 { return (slots[place].value, false) }
        slots[place] = Slot(first: first, second: second, value: new)
        count += 1
        if count * 2 > slots.count { grow() }
        return (new, true)
    }

    /// The slot of the pair, or the slot for it.
    private func place(of first: Int32, _ second: Int32) -> Int {
        let key = UInt64(UInt32(bitPattern: first)) << 32 | UInt64(UInt32(bitPattern: second))
        // Fibonacci hashing: only the product's uppermost bits depend on all bits of the key. With
        // lower bits, all recursive calls of a function would collide.
        let hash = (key &* 0x9e37_79b9_7f4a_7c15) >> (64 - slots.count.trailingZeroBitCount)
        let mask = slots.count - 1
        var place = Int(truncatingIfNeeded: hash)
        while slots[place].value >= 0,
            slots[place].first != first || slots[place].second != second
        {
            place = (place + 1) & mask
        }
        return place
    }

    private mutating func grow() {
        let old = slots
        slots = [Slot](repeating: Self.empty, count: old.count * 2)
        for slot in old where slot.value >= 0 {
            slots[place(of: slot.first, slot.second)] = slot
        }
    }
}
