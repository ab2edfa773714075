/// Which code lies where, of what a just-in-time compiler has made so far. New code takes the place of
/// what lay there.
package struct CodePlaces: Sendable {
    private struct Place {
        var start: UInt64
        var end: UInt64
        var code: Int32
    }

    /// By page of addresses, those that reach into it.
    private var pages: [UInt64: [Place]] = [:]
    private var count = 0

    private static let pageBits: UInt64 = 12
    /// Larger code is left out, and what comes after so many places: a map may say anything.
    private static let mostPages: UInt64 = 1 << 12
    private static let mostPlaces = 1 << 21

    package init() {}

    /// - Parameter code: whatever the caller calls it.
    package mutating func add(_ code: Int32, from start: UInt64, to end: UInt64) {
        guard end > start, (end - start) >> Self.pageBits < Self.mostPages else { return }
        for page in (start >> Self.pageBits)...((end - 1) >> Self.pageBits) {
            var places = pages[page] ?? []
            let former = places.count
            places.removeAll { $0.start < end && start < $0.end }
            count -= former - places.count
            if count < Self.mostPlaces {
                places.append(Place(start: start, end: end, code: code))
                count += 1
            }
            pages[page] = places
        }
    }

    /// nil: nothing that is known lies there.
    package func code(at address: UInt64) -> Int32? {
        pages[address >> Self.pageBits]?.first { $0.start <= address && address < $0.end }?.code
    }
}
