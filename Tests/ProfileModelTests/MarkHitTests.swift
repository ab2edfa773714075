import ProfileModel
import Testing

@Suite struct MarkHitTests {
    @Test func recordsKnowTheirRequests() {
        for request in 0..<5 {
            for event in MarkHit.Event.allCases {
                let hit = MarkHit(request: request, event: event)
                #expect(MarkHit.request(ofRecord: UInt32(hit.number)) == request)
            }
        }
    }
}
