/// The place of each piece of code that a just-in-time compiler has made so far. New code replaces
/// earlier code at the same place.
package struct CodePlaces: Sendable {
    private struct Place {
        var start: UInt64
        var end: UInt64
        var code: Int32
    }

    /// For each page of addresses, the places that overlap it.
    private var pages: [UInt64: [Place]] = [:]
    private var count = 0

    private static let pageBits: UInt64 = 12
    /// Larger code is left out, and so are places beyond the limit: a map may hold anything.
    private static let mostPages: UInt64 = 1 << 12
    private static let mostPlaces = 1 << 21

    package init() {}

    /// - Parameter code: the caller's number for the code.
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

    /// nil: no known code is there.
    package func code(at address: UInt64) -> Int32? {
        pages[address >> Self.pageBits]?.first { $0.start <= address && address < $0.end }?.code
    }
}
