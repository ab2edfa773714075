package import ProfileModel

/// Elements that were read for several takers at once, each kept until its taker takes it. Elements
/// without a taker are kept for a while, because a taker may register late.
package struct UnreadSamples<Element: MomentaryEvent> {
    private var followed: [Int32: [Element]] = [:]
    private var strays: [Int32: [Element]] = [:]
    private var olderStrays: [Int32: [Element]] = [:]

    package mutating func add(_ element: Element, of id: Int32) {
        if followed[id]?.append(element) == nil { strays[id, default: []].append(element) }
    }

    /// From now on its elements are kept until they are taken.
    package mutating func follow(_ id: Int32) {
        guard followed[id] == nil else { return }
        followed[id] =
            (olderStrays.removeValue(forKey: id) ?? [])
            + (strays.removeValue(forKey: id) ?? [])
    }

    package mutating func forget(_ id: Int32) { followed[id] = nil }

    /// An id's elements since the last call, in order, up to a time; nil: all of them.
    package mutating func take(_ id: Int32, upTo limit: MonotonicTime?) -> [Element] {
        guard let all = followed[id], !all.isEmpty else { return [] }
        let sorted = all.sorted { $0.time < $1.time }
        let count = limit.map { limit in sorted.firstIndex { $0.time > limit } ?? sorted.count }
        followed[id] = Array(sorted.dropFirst(count ?? sorted.count))
        return Array(sorted.prefix(count ?? sorted.count))
    }

    /// The first element after a time. The element is not removed.
    package func first(of id: Int32, after time: MonotonicTime) -> Element? {
        followed[id]?.filter { $0.time > time }.min { $0.time < $1.time }
    }

    /// Drops the elements that had no taker at the call before the last one, and still have none.
    package mutating func dropStrays() {
        olderStrays = strays
        strays = [:]
    }
}

/// An event at one moment.
package protocol MomentaryEvent {
    var time: MonotonicTime { get }
}

extension ThreadSamples.Observation: MomentaryEvent {}
