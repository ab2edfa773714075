import KernelTables
import Testing

struct KernelSymbolsTests {
    private func symbols(_ lines: [String]) -> KernelSymbols {
        KernelSymbols(Array(lines.map { $0 + "\n" }.joined().utf8))
    }

    private let list = [
        "0000000000000000 A per_cpu_start", "ffffffff81000000 T _stext",
        "ffffffff81000000 T _text", "ffffffff81000100 t first", "ffffffff81000200 T second",
        "ffffffff81000280 D data", "ffffffff81000400 T _etext", "ffffffff81000500 D later",
        "ffffffffc0000010 t inner\t[loop]", "ffffffffc0000000 T outer\t[loop]",
        "ffffffffc0000008 t other\t[nbd]",
    ]

    @Test func `a function covers what lies up to the next one`() {
        let symbols = symbols(list)
        #expect(symbols.start == 0xffff_ffff_8100_0000)
        let places: [UInt64] = [
            0xffff_ffff_80ff_ffff, 0xffff_ffff_8100_0000, 0xffff_ffff_8100_0100,
            0xffff_ffff_8100_01ff, 0xffff_ffff_8100_0300, 0xffff_ffff_8100_0400,
        ]
        let names = symbols.names(at: places)
        #expect(places.map { names[$0] } == [nil, "_stext", "first", "first", "second", nil])
    }

    @Test func `each module has functions of its own`() {
        let places: [UInt64] = [
            0xffff_ffff_c000_0004, 0xffff_ffff_c000_000a, 0xffff_ffff_c000_0020,
        ]
        let loop = symbols(list).names(at: places, of: "loop")
        #expect(places.map { loop[$0] } == ["outer", "outer", "inner"])
        let nbd = symbols(list).names(at: places, of: "nbd")
        #expect(places.map { nbd[$0] } == [nil, "other", "other"])
        #expect(symbols(list).names(at: places, of: "missing").isEmpty)
    }

    @Test func `of several names the one that perf shows`() {
        func best(_ names: [String]) -> String? {
            let lines = ["10 T _text"] + names.map { "20 \($0)" } + ["30 T _etext"]
            return symbols(lines).names(at: [0x24])[0x24]
        }
        #expect(best(["W weak", "t local", "T global"]) == "global")
        #expect(best(["T __x64_call", "T _call"]) == "_call")
        #expect(best(["T call", "T longer_call", "T b"]) == "longer_call")
        #expect(best(["T bb", "T aa"]) == "aa")
        #expect(best(["t local", "W weak"]) == "local")
        #expect(best(["D data", "r constant"]) == "_text")
    }

    @Test func `hidden addresses tell nothing`() {
        let symbols = symbols(list.map { "0000000000000000" + $0.dropFirst(16) })
        #expect(symbols.start == nil)
    }

    @Test func `without _text, _stext is where it begins`() {
        #expect(symbols(["20 T _stext", "30 t a"]).start == 0x20)
        #expect(symbols(["10 T a", "30 t b"]).start == nil)
    }

    @Test func `damaged lines are left out`() {
        let bad = [
            "", " ", "x", "ffffffff81000001", "ffffffff81000001 ", "ffffffff81000001 T",
            "ffffffff81000001 T ", "1ffffffff81000001 T long", "ffffffff81000001  T space",
            "ffffffff81000001 TT two", "ffffffff81000001 T \t[loop]",
        ]
        let symbols = symbols(bad + list)
        let place: UInt64 = 0xffff_ffff_8100_0080
        #expect(symbols.names(at: [place]) == [place: "_stext"])
        // The last line need not end.
        #expect(KernelSymbols(Array("20 T _text".utf8)).start == 0x20)
        #expect(KernelSymbols([]).names(at: [1]).isEmpty)
        #expect(KernelSymbols(path: "/nonexistent") == nil)
    }
}
