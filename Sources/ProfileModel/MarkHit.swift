/// One hit of a mark: the program has reached a marked place.
package struct MarkHit: Hashable, Sendable {
    package enum Event: UInt8, CaseIterable, Sendable {
        case point = 1
        case begin = 2
        case end = 3
    }

    /// The position of its request in the list.
    package var request: Int
    package var event: Event

    package init(request: Int, event: Event) {
        self.request = request
        self.event = event
    }

    /// The number of its record: each request has one record for each event.
    package var number: Int { Event.allCases.count * request + Int(event.rawValue) - 1 }

    /// The request that a record belongs to.
    package static func request(ofRecord number: UInt32) -> Int {
        Int(number) / Event.allCases.count
    }
}
