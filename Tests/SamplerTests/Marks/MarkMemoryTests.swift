import CSignpost
import ProfileModel
import Testing

@testable import Agent
@testable import Sampler

/// What marks are made of in memory, without a program.
@Suite struct MarkMemoryTests {
    private static let code: UInt64 = 0x5555_5555_5000

    private func place(_ mappings: [Range<UInt64>], near code: UInt64 = code) -> UInt64? {
        IslandPlace.place(near: code, size: 0x2_0000, among: mappings)
    }

    @Test func islandsAreBelowAndInReach() throws {
        let program = (Self.code - 0x1000)..<(Self.code + 0x3000)
        let free = try #require(place([program]))
        #expect(free % 4096 == 0 && free + 0x2_0000 <= program.lowerBound)
        #expect(Self.code - free < 1 << 30)
        // Where one is already, the next is beside it.
        let taken = free..<(free + 0x2_0000)
        let next = try #require(place([taken, program]))
        #expect(next + 0x2_0000 <= program.lowerBound)
        #expect(!taken.overlaps(next..<(next + 0x2_0000)))
        // Segments that follow one another are no gap.
        let divided = [program.lowerBound..<Self.code, Self.code..<program.upperBound]
        #expect(place(divided) == free)
    }

    /// A program at 0x400000, whose heap is behind it.
    @Test func lowPrograms() throws {
        let program: Range<UInt64> = 0x40_0000..<0x50_0000
        let heap: Range<UInt64> = 0x150_0000..<0x160_0000
        let found = try #require(place([program, heap], near: 0x40_1000))
        #expect(found >= 0x1_0000 && found + 0x2_0000 <= 0x40_0000)
        // With no room below, it is far above the heap.
        let full: Range<UInt64> = 0x1_0000..<0x50_0000
        let above = try #require(place([full, heap], near: 0x40_1000))
        #expect(above > 0x5000_0000 && above < 0x7000_0000)
        #expect(place([0..<UInt64(1 << 40)], near: 0x40_1000) == nil)
        #expect(place([], near: .max) != nil)
    }

    @Test func codeThatChanges() {
        let code = ChangedCode([0x11..<0x15, 0x31..<0x35, 0x21..<0x25])
        let hits = (0..<0x40).filter { code.contains($0) }
        #expect(hits == [0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24, 0x31, 0x32, 0x33, 0x34])
        func stack(_ words: UInt64...) -> [UInt8] {
            words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
        }
        #expect(code.isReferred(by: stack(1, 0x23)))
        #expect(!code.isReferred(by: stack(1, 0x15, 0x20)))
        #expect(!code.isReferred(by: []) && !code.isReferred(by: [0x12, 0, 0]))
        #expect(!ChangedCode([]).isReferred(by: stack(0)))
    }

    @Test func recordsAreEvents() {
        let name = String(repeating: "é", count: 70)
        let requests = [
            MarkRequest(name: "Load", place: .function("load", library: nil, isSpan: true)),
            MarkRequest(name: name, place: .probe(provider: "a", name: "b")),
        ]
        let records = MarkRecord.all(of: requests)
        #expect(records.count == 6)
        #expect(records.allSatisfy { $0.bytes.count == 256 })
        let begin = records[MarkHit(request: 0, event: .begin).number].bytes
        #expect(
            Array(begin.prefix(8)) == [
                UInt8(FIRSTLIGHT_SIGNPOST_BEGIN), UInt8(FIRSTLIGHT_SIGNPOST_OWN_ID), 4, 4, 1, 0, 0,
                0,
            ])
        #expect(Array(begin[8..<16]) == Array("Loadmark".utf8))
        let point = records[MarkHit(request: 1, event: .point).number].bytes
        #expect(Array(point.prefix(5)) == [UInt8(FIRSTLIGHT_SIGNPOST_EVENT), 0, 128, 4, 17])
        #expect(MarkRecord.isMark(SignpostLabel(name: "x", category: "mark", subsystem: "")))
        #expect(!MarkRecord.isMark(SignpostLabel(name: "x", category: "mark", subsystem: "s")))
        #expect(!MarkRecord.isMark(SignpostLabel(name: "x", category: "launch", subsystem: "")))
    }
}
