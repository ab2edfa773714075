import ProfileModel

/// The record that each native frame of 3.11's loop keeps on the native stack (`_PyCFrame`). They
/// form a list, from the newest one outwards, that ends inside the thread's state.
struct PythonLoopRecords {
    private var entries: [(place: UInt64, frame: UInt64)] = []

    /// - Parameter size: the largest size of a thread's state.
    init(_ copy: RuntimeCopy, _ stack: StackCopy, _ layout: FrameListLayout, size: Int) {
        guard let inside = layout.newestInside else { return }
        var place = copy.newest
        // Each is further out than the one before, so this ends.
        while let offset = Self.offset(of: place, in: stack),
            let frame = stack.bytes.word(at: offset + inside),
            let previous = stack.bytes.word(at: offset + inside + 8)
        {
            entries.append((place, frame))
            guard previous > place else { break }
            place = previous
        }
    }

    /// The places of the activations with these newest frames, as far as known. Empty if the lists
    /// contradict each other.
    func places(of newest: [UInt64]) -> [UInt64] {
        let known = zip(entries, newest)
        guard known.allSatisfy({ $0.frame == $1 }) else { return [] }
        return known.map { $0.0.place }
    }

    private static func offset(of place: UInt64, in stack: StackCopy) -> Int? {
        guard place >= stack.start, place & 7 == 0 else { return nil }
        let offset = place - stack.start
        return offset < UInt64(stack.bytes.count) ? Int(offset) : nil
    }
}
