internal import ProfileModel

/// A namespace, class or module: it gives its members a qualified name.
struct FoundContainer: Sendable, Equatable {
    /// The offset of its entry in `.debug_info`.
    var offset: Int
    /// Where its content ends.
    var end: Int
    /// The container around it; -1 for none.
    var parent: Int32
}

/// A function or class that a search skipped: it may contain containers.
struct PassedEntry: Sendable, Equatable {
    /// The range in `.debug_info`, including its content.
    var range: Range<Int>
    /// The container around it; -1 for none.
    var container: Int32
}

/// The containers of a unit, in the order of the file.
struct Containers: Sendable, Equatable {
    var all: ContiguousArray<FoundContainer> = []
    /// In the order of the file.
    var passed: ContiguousArray<PassedEntry> = []

    /// Deeper nesting must be fabricated.
    private static let deepest = 64

    /// The innermost container around an offset, and those around it.
    func chain(at offset: Int) -> [FoundContainer] {
        var current = all.partitionIndex { $0.offset > offset } - 1
        // The preceding container has the same ones around it, but some may have ended.
        var steps = 0
        while all.indices.contains(current), all[current].end <= offset, steps < all.count {
            current = Int(all[current].parent)
            steps += 1
        }
        return chain(from: Int32(truncatingIfNeeded: current))
    }

    /// A container and those around it.
    func chain(from container: Int32) -> [FoundContainer] {
        var result: [FoundContainer] = []
        var current = Int(container)
        while all.indices.contains(current), result.count < Self.deepest {
            result.append(all[current])
            current = Int(all[current].parent)
        }
        return result
    }

    /// The skipped entry that contains an offset, if any.
    func passedEntry(at offset: Int) -> PassedEntry? {
        let index = passed.partitionIndex { $0.range.lowerBound > offset } - 1
        guard index >= 0, passed[index].range.contains(offset) else { return nil }
        return passed[index]
    }
}
