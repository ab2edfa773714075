import Runtimes
import TestSupport
import Testing

struct CodePlacesTests {
    @Test func `new code takes the place of what lay there`() {
        var places = CodePlaces()
        places.add(1, from: 0x1000, to: 0x1100)
        places.add(2, from: 0x1100, to: 0x3100)
        #expect(places.code(at: 0xfff) == nil)
        #expect(places.code(at: 0x10ff) == 1)
        #expect(places.code(at: 0x1100) == 2)
        #expect(places.code(at: 0x2fff) == 2)
        #expect(places.code(at: 0x3100) == nil)
        places.add(3, from: 0x10f0, to: 0x1200)
        // A partly overwritten function is gone, in the pages that were overwritten.
        #expect(places.code(at: 0x1000) == nil)
        #expect(places.code(at: 0x10f0) == 3)
        #expect(places.code(at: 0x1200) == nil)
    }

    @Test func `places that cannot be do no harm`() {
        var places = CodePlaces()
        places.add(1, from: 5, to: 5)
        places.add(2, from: 9, to: 5)
        places.add(3, from: 0, to: .max)
        places.add(4, from: .max - 1, to: .max)
        #expect(places.code(at: 5) == nil)
        #expect(places.code(at: .max - 1) == 4)
    }

    @Test func `what was added last is found`() {
        var numbers = SeededNumbers(seed: 11)
        for _ in 0..<200 {
            var places = CodePlaces()
            var cells = [Int32?](repeating: nil, count: 64)
            for code in Int32(0)..<40 {
                // Code within a page: it is gone as a whole when any of it is overwritten.
                let start = Int.random(in: 0..<60, using: &numbers)
                let end = Int.random(in: (start + 1)...min(64, start + 8), using: &numbers)
                let gone = Set(cells[start..<end].compactMap { $0 })
                cells = cells.map { $0.flatMap { gone.contains($0) ? nil : $0 } }
                for cell in start..<end { cells[cell] = code }
                places.add(code, from: 0x5000 + UInt64(start * 64), to: 0x5000 + UInt64(end * 64))
            }
            #expect(cells.indices.map { places.code(at: 0x5000 + UInt64($0 * 64) + 7) } == cells)
        }
    }
}

struct PerfMapLineTests {
    @Test func `a line says where its code is`() {
        let text = Array("1000 a0 JS:~f /x.js:1:2".utf8)
        let line = PerfMapLine(text[...])
        #expect(line?.start == 0x1000)
        #expect(line?.end == 0x10a0)
        #expect(line.map { String(decoding: text[$0.name], as: UTF8.self) } == "JS:~f /x.js:1:2")
        #expect(PerfMapLine(Array("1000 0 f".utf8)[...]) == nil)
    }
}
