import ProfileModel
import Testing

@Suite struct RecordedTextTests {
    @Test func longTextsAreCutBetweenCharacters() {
        let limit = RecordedText.longest
        #expect(RecordedText.bounded("short") == "short")
        let exact = String(repeating: "x", count: limit)
        #expect(RecordedText.bounded(exact) == exact)
        #expect(RecordedText.bounded(exact + "x") == exact)
        // Four bytes each, not in step with the limit.
        let long = "abc" + String(repeating: "🔭", count: limit)
        let cut = RecordedText.bounded(long)
        #expect(long.hasPrefix(cut) && cut.utf8.count == limit - 1)
    }
}
