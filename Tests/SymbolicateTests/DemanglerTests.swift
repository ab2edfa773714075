import Symbolicate
import TestSupport
import Testing

struct DemanglerTests {
    private static let names: [String: String] = [
        // C++
        "_ZN15SuperfastLogger6warmUpEv": "SuperfastLogger::warmUp()",
        "_ZN12_GLOBAL__N_14workEi": "(anonymous namespace)::work(int)",
        "_ZNSt6vectorIiSaIiEE9push_backERKi":
            "std::vector<int, std::allocator<int> >::push_back(int const&)",
        "_GLOBAL__sub_I_logger.cpp": "global constructors keyed to logger.cpp",
        "_GLOBAL__sub_I__ZN6Logger4warmEv": "global constructors keyed to Logger::warm()",
        "_GLOBAL__sub_D__GLOBAL__sub_I_a": "global destructors keyed to _GLOBAL__sub_I_a",
        "_Z3foov.cold": "foo() [clone .cold]",
        "_Z3fooi.constprop.0.cold": "foo(int) [clone .constprop.0] [clone .cold]",
        // Rust, before v0 and v0
        "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE": "core::fmt::Formatter::pad",
        "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.42":
            "core::fmt::Formatter::pad [clone .llvm.42]",
        "_ZN42_$LT$Test$u20$as$u20$foo..Bar$LT$T$GT$$GT$3bar17h930b740aa94f1d3aE":
            "<Test as foo::Bar<T>>::bar",
        "_RNvC6_123foo3bar": "123foo::bar",
        "_RNvNtCs1234_7mycrate3foo3bar": "mycrate::foo::bar",
        "_RNvNtCs1234_7mycrate3foo3bar.llvm.7": "mycrate::foo::bar [clone .llvm.7]",
        // Swift
        "$s4main5helloyyF": "main.hello() -> ()",
        "$sSS7cStringSSSPys4Int8VG_tcfC":
            "Swift.String.init(cString: Swift.UnsafePointer<Swift.Int8>) -> Swift.String",
        "$s4main5helloyyF.resume.0": "main.hello() -> () [clone .resume.0]",
        // C
        "main": "main", "foo.cold": "foo [clone .cold]", "foo.part.0": "foo [clone .part.0]",
        "foo.isra.0.cold": "foo [clone .isra.0] [clone .cold]",
        "runtime.goexit": "runtime.goexit", "main.main.func1": "main.main.func1",
        ".cold": ".cold", "a..b": "a..b", "": "",
        // Looks mangled, is not
        "_Z": "_Z", "_R": "_R", "$s": "$s", "_ZN3foo": "_ZN3foo", "_Zebra": "_Zebra",
    ]

    @Test(arguments: names.sorted { $0.key < $1.key })
    func namesForReaders(mangled: String, expected: String) {
        #expect(Demangler.readable(mangled) == expected)
    }

    /// Past 1,024 characters `__cxa_demangle` gives up.
    @Test func longNamesOfTemplates() throws {
        let parts = (0..<300).map { "5abcd\($0 % 10)" }.joined()
        let name = try #require(Demangler.demangle("_ZN\(parts)1fEv"))
        #expect(name.hasPrefix("abcd0::abcd1::abcd2::"))
        #expect(name.hasSuffix("::f()"))
    }

    /// Each parameter is twice as long as the one before: 2^36 characters if written out.
    @Test func pairsOfPairsAreCut() throws {
        // void f(P<int, int>, P<P<int, int>, P<int, int>>, …)
        var mangled = "_Z1f1PIiiE"
        let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        for index in digits.indices { mangled += "S_IS\(digits[index])_S\(digits[index])_E" }
        let readable = try #require(Demangler.demangle(mangled))
        #expect(readable.utf8.count == Demangler.longestOutput)
        #expect(readable.hasPrefix("f(P<int, int>, P<P<int, int>, P<int, int> >"))
    }

    /// For a pack expansion all of its pattern is searched, 2^34 types, before anything is written:
    /// without a limit that takes minutes.
    @Test(arguments: ["_Z1fDp1QI1PIiiE", "_Z1fIJiEEvDp1QI1PIiiE", "_Z1fDpT_I1PIiiE"])
    func packsInPairsOfPairsAreLeftAlone(start: String) {
        let digits = Array("123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        let pairs = digits.map { "S0_IS\($0)_S\($0)_E" }.joined()
        let name = start + pairs + "E"
        #expect(Demangler.readable(name) == name)
    }

    @Test func packsOfParametersAreDemangled() {
        let name =
            "_ZNSt6threadC1IRFvvEJEvEEOT_DpOT0_"
        #expect(
            Demangler.readable(name) == "std::thread::thread<void (&)(), , void>(void (&)())")
        // More substitutions than are allowed to other patterns.
        let many = "_Z1gIJiiEEvDpOT_1A" + String(repeating: "S1_", count: 30)
        #expect(Demangler.readable(many).hasPrefix("void g<int, int>(int&&, int&&, A, "))
    }

    /// A name of 100,000 nested types, and one that is deep.
    @Test(arguments: [500, 100_000])
    func nestedTypes(depth: Int) {
        let name =
            "_Z1f" + String(repeating: "1aI", count: depth) + "i"
            + String(repeating: "E", count: depth)
        let readable = Demangler.readable(name)
        #expect(readable.utf8.count <= Demangler.longestOutput)
        #expect(readable.hasPrefix(depth > 2_000 ? "_Z1f1aI" : "f(a<a<a<"))
    }

    @Test func swiftGenericsOfGenericsAreLeftAlone() {
        // m.f(G<T, T>) where T is G<T', T'> and so on: compiled by swiftc with three levels, the
        // same shape with more.
        let three = "$s1m1fyyAA1GVyADyADyADyS2iGAEGAFGAGGF"
        #expect(Demangler.readable(three).hasPrefix("m.f(m.G<m.G<m.G<m.G<Swift.Int, Swift.Int>,"))
        let levels = 60
        let start = "$s1m1fyyAA1GVy" + String(repeating: "ADy", count: levels) + "S2iG"
        let ends = (0..<levels).map { _ in "AEG" }.joined()
        let many = start + ends + "F"
        #expect(Demangler.readable(many) == many)
    }

    @Test(arguments: ["_Z", "_ZN", "_R", "$s", "_T0", "_ZN4core17h", "", "@__swiftmacro_"])
    func hugeNamesAreNotDemangledAndCut(prefix: String) {
        let name = prefix + String(repeating: "P", count: 1_000_000)
        #expect(Demangler.demangle(name) == nil)
        #expect(Demangler.readable(name).utf8.count == Demangler.longestOutput)
    }

    @Test(arguments: ["_Z1f", "_RNvC1a", "$s4main1fyy", "_ZN1a17h0123456789abcdef"])
    func deepNestingDoesNotOverflowTheStack(prefix: String) {
        for letter in ["P", "F", "I", "T", "B_", "R", "x", "G"] {
            let count = (Demangler.longestInput - prefix.utf8.count) / letter.utf8.count
            let name = prefix + String(repeating: letter, count: count)
            #expect(!Demangler.readable(name).isEmpty)
        }
    }

    /// Mangled names with a byte or more changed: anything may come out, nothing may crash.
    @Test(arguments: [
        "_ZNSt6vectorIiSaIiEE9push_backERKi", "_RNvNtCs1234_7mycrate3foo3bar",
        "$sSS7cStringSSSPys4Int8VG_tcfC", "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
    ])
    func damagedNames(name: String) {
        var numbers = SeededNumbers(seed: 7)
        for _ in 0..<2_000 {
            var bytes = Array(name.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &numbers) {
                let index = Int.random(in: 2..<bytes.count, using: &numbers)
                bytes[index] = UInt8.random(in: 0x20...0x7E, using: &numbers)
            }
            let readable = Demangler.readable(String(decoding: bytes, as: UTF8.self))
            #expect(readable.utf8.count <= Demangler.longestOutput)
        }
    }

    /// The mark of a copy may be the long part, and a character may lie where the cut is.
    @Test func longMarksOfCopiesAreCutToo() {
        let long = String(repeating: "é", count: Demangler.longestOutput)
        for name in ["work.cold." + long, "_RNvC1a1b." + long.prefix(4000), "_ZN1aE." + long, long]
        {
            let readable = Demangler.readable(name)
            #expect(readable.utf8.count <= Demangler.longestOutput)
            #expect(!readable.contains("\u{fffd}"))
        }
    }
}
