import CAgent
import CSignpost
package import ProfileModel

/// The record of a mark's hit: an event in the ring of signposts.
package struct MarkRecord: Hashable {
    package let bytes: [UInt8]

    package static let category = "mark"

    package init(_ request: MarkRequest, _ event: MarkHit.Event) {
        let kind: Int
        let flags: Int
        switch event {
        case .point: (kind, flags) = (FIRSTLIGHT_SIGNPOST_EVENT, 0)
        // Intervals of one thread are nested: the last to begin ends first.
        case .begin: (kind, flags) = (FIRSTLIGHT_SIGNPOST_BEGIN, FIRSTLIGHT_SIGNPOST_OWN_ID)
        case .end: (kind, flags) = (FIRSTLIGHT_SIGNPOST_END, FIRSTLIGHT_SIGNPOST_OWN_ID)
        }
        let name = request.name.utf8.prefix(FIRSTLIGHT_NAME_LIMIT)
        let text = Array(name) + Array(Self.category.utf8)
        let words = (text.count + 7) / 8
        var bytes = [
            UInt8(kind), UInt8(flags), UInt8(name.count), UInt8(Self.category.utf8.count),
            UInt8(words), 0, 0, 0,
        ]
        bytes += text
        bytes += [UInt8](repeating: 0, count: MemoryLayout<fl_mark>.size - bytes.count)
        self.bytes = bytes
    }

    /// True if an event of the ring belongs to a mark.
    package static func isMark(_ label: SignpostLabel) -> Bool {
        label.category == category && label.subsystem.isEmpty
    }

    /// One record for each event of each request, in the order of their numbers.
    package static func all(of requests: [MarkRequest]) -> [MarkRecord] {
        requests.flatMap { request in
            MarkHit.Event.allCases.map { MarkRecord(request, $0) }
        }
    }
}
