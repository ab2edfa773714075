import ELF
import TestSupport
import Testing

/// Notes, and headers of segments, as bytes.
@Suite struct ELFNotesTests {
    private let notes =
        MadeELF.note("Linux\0", [1]) + MadeELF.note("GNU\0", type: 4, [2])
        + MadeELF.note("", []) + MadeELF.note("GNU\0", [3, 4, 5])

    @Test func eachHasItsPlace() {
        notes.withUnsafeBytes { bytes in
            let all = Array(ELFNotes(bytes))
            #expect(all.map(\.type) == [3, 4, 3, 3])
            #expect(all.map { Array($0.content) } == [[1], [2], [], [3, 4, 5]])
            #expect(
                all.map { Array(bytes[$0.place...].prefix($0.content.count)) }
                    == all.map { Array($0.content) })
            #expect(all.map { $0.isOf("GNU", type: 3) } == [false, false, false, true])
            #expect(all[0].isOf("Linux", type: 3) && !all[0].isOf("Linu", type: 3))
        }
        #expect(ELFNotes.buildID(in: notes[...]) == [3, 4, 5])
        #expect(ELFNotes.buildID(in: notes[..<20]).isEmpty)
    }

    /// The padding of the last one may be missing, nothing else.
    @Test func truncatedNotesAreRefused() {
        for end in 0...notes.count {
            let found = ELFNotes.buildID(in: notes[..<end])
            #expect(found == (end >= notes.count - 1 ? [3, 4, 5] : []))
        }
    }

    @Test func damage() {
        var random = SeededNumbers(seed: 7)
        for _ in 0..<20_000 {
            var damaged = notes
            for _ in 0..<3 {
                damaged[Int.random(in: damaged.indices, using: &random)] =
                    [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
            }
            damaged.withUnsafeBytes { bytes in
                let size = ELFNotes(bytes).reduce(0) { $0 + $1.owner.count + $1.content.count + 12 }
                #expect(size <= bytes.count)
            }
        }
    }

    @Test func segments() {
        let made = MadeELF.whole
        let (bytes, header) = (made.bytes, ELFHeader(made.bytes))
        #expect(header?.segments == 64 && header?.segmentCount == 4)
        let all = ELFSegment.all(in: bytes[64..<64 + 4 * ELFSegment.headerSize])
        #expect(all == (try? ELFFile(bytes))?.segments)
        #expect(ELFSegment.all(in: bytes[64..<64 + 3 * ELFSegment.headerSize - 1]).count == 2)
        #expect(ELFSegment.all(in: []).isEmpty)
        #expect(ELFHeader(Array(bytes.prefix(57))) == nil && ELFHeader([]) == nil)
        #expect(all[1].holds(0x1000) && all[1].holds(0x101F))
        #expect(!all[1].holds(0x1020) && !all[1].holds(0xFFF))
    }
}
