import Runtimes
import TestSupport
import Testing

struct SourceMapTests {
    private typealias Segment = MadeSourceMap.Segment

    /// `function a(b){return b}` in line 1 was `hot` in the tenth line of the second source; `c` in
    /// line 3 was in the first.
    private static let made = MadeSourceMap(
        sources: ["src/one.ts", "src/two.ts"], names: ["hot", "count"],
        [
            Segment(0, 0, from: 1, 9, 0), Segment(0, 9, from: 1, 9, 16, name: 0),
            Segment(0, 11, from: 1, 9, 20, name: 1), Segment(2, 4, from: 0, 99_999, 2),
        ])

    private func read(_ json: String) -> SourceMap? { SourceMap(Array(json.utf8)) }

    private func place(
        _ name: String, _ line: Int32, _ column: Int32, in map: SourceMap, _ text: String
    ) -> SourceMap.Place? {
        map.place(
            of: NodeFunction(name: name, script: "/x.js", line: line, column: column),
            text: Array(text.utf8))
    }

    @Test func `functions are found where they were written`() throws {
        let map = try #require(read(Self.made.json))
        #expect(map.sources == ["src/one.ts", "src/two.ts"])
        let line = "function a(b){return b}"
        #expect(
            place("a", 1, 11, in: map, line) == SourceMap.Place(source: 1, line: 10, name: "hot"))
        #expect(place("c", 3, 9, in: map, "let c=()=>1")?.line == 100_000)
        #expect(
            place("", 3, 5, in: map, "") == SourceMap.Place(source: 0, line: 100_000, name: nil))
    }

    @Test func `a parameter's name is not the function's`() throws {
        let map = try #require(read(Self.made.json))
        // `b=>b`: V8 has it where its parameter is.
        let found = place("", 1, 12, in: map, "function a(b){return b}")
        #expect(found == SourceMap.Place(source: 1, line: 10, name: nil))
    }

    @Test func `where nothing is mapped nothing is said`() throws {
        let map = try #require(read(Self.made.json))
        #expect(place("a", 2, 1, in: map, "") == nil)
        #expect(place("a", 3, 1, in: map, "") == nil)
        #expect(place("a", 4, 1, in: map, "") == nil)
        #expect(place("a", .max, .max, in: map, "") == nil)
    }

    @Test func `sources count from the root that is named`() throws {
        let json =
            #")]}'  { "version" : 3, "sourceRoot":"/r\u002f", "sources":[null,"a\"b.ts"], "names":[], "mappings":"ACAA" }"#
        let map = try #require(read(json))
        #expect(map.sources == ["", "/r/a\"b.ts"])
        #expect(place("f", 1, 1, in: map, "")?.source == 1)
    }

    @Test func `what follows a damaged segment is left out`() throws {
        for (mappings, count) in [
            ("AAAA,!,AAAA", 1), ("AAAA;AADA", 1), ("gggggggggggggE", 0), ("AA", 0),
        ] {
            let json =
                "{\"version\":3,\"sources\":[\"a\"],\"names\":[],\"mappings\":\"\(mappings)\"}"
            let map = try #require(read(json))
            #expect((place("f", 1, 9, in: map, "") != nil) == (count == 1))
            #expect(place("f", 2, 9, in: map, "") == nil)
        }
    }

    @Test(arguments: [
        "", "{", "{}", "[]", "null", "{\"version\":2,\"mappings\":\"\"}", "{\"version\":3",
        "{\"version\":3,\"names\":[\"a\"", "{\"version\":3,\"mappings\":\"AA",
        "{\"version\":3,\"x\":[[[[}", "{\"version\":3,}",
    ])
    func `what is no source map is none`(json: String) {
        #expect(read(json) == nil)
    }

    @Test func `depth does no harm`() {
        #expect(read("{\"x\":" + String(repeating: "[", count: 1_000_000)) == nil)
    }

    @Test func `mutated maps do no harm`() {
        var numbers = SeededNumbers(seed: 7)
        let whole = Array(Self.made.json.utf8)
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &numbers) {
                bytes[Int.random(in: 0..<bytes.count, using: &numbers)] =
                    UInt8.random(in: 0...255, using: &numbers)
            }
            bytes.removeLast(Int.random(in: 0..<3, using: &numbers))
            guard let map = SourceMap(bytes) else { continue }
            for (line, column): (Int32, Int32) in [(1, 1), (1, 11), (3, 9), (.max, .max)] {
                let found = place("a", line, column, in: map, "function a(b){return b}")
                #expect(found.map { map.sources.indices.contains($0.source) } ?? true)
                #expect(found.map { $0.line > 0 } ?? true)
            }
        }
    }
}

struct SourceMapLinkTests {
    private func link(_ script: String) -> SourceMapLink? {
        SourceMapLink(script: Array(script.utf8))
    }

    @Test func `the last line that names a map counts`() {
        #expect(
            link("x\n//# sourceMappingURL=a.map\ny\n//# sourceMappingURL=b.map\n\n")
                == .file("b.map"))
        #expect(link("//@ sourceMappingURL=../m/a%20b.map\r\n") == .file("../m/a b.map"))
        #expect(link("//# sourceMappingURL=file:///m/a.map") == .file("/m/a.map"))
    }

    @Test func `a script may hold its map`() {
        let text = "{\"version\":3}"
        let url = "data:application/json;charset=utf-8;base64," + MadeSourceMap.base64(text)
        #expect(link("x\n//# sourceMappingURL=" + url) == .inline(Array(text.utf8)))
    }

    @Test(arguments: [
        "", "\n", "x", "//# sourceMappingURL=", "//# sourceMappingURL= a",
        "//# sourceMappingURL=https://example.com/a.map", "//# sourceMappingURL=data:,{}",
        "//# sourceMappingURL=data:application/json;base64,*",
        "let x = '//# sourceMappingURL=a.map'",
        "//# sourceMappingURL=a%00b",
    ])
    func `otherwise there is none`(script: String) {
        #expect(link(script) == nil)
    }
}
