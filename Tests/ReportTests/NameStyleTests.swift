import ProfileModel
import Testing

@testable import Exports
@testable import Report

@Suite struct NameStyleTests {
    @Test(arguments: [
        (
            "std::vector<int, std::allocator<int> >::push_back(int const&)",
            "std::vector<…>::push_back"
        ),
        ("SuperfastLogger::warmUp()", "SuperfastLogger::warmUp"),
        ("Reader::next() const &", "Reader::next"),
        ("(anonymous namespace)::work(int)", "(anonymous namespace)::work"),
        ("int max<int>(int, int)", "max<…>"),
        ("void (anonymous namespace)::each<A>(A)", "(anonymous namespace)::each<…>"),
        ("A::operator()(int) const", "A::operator()"),
        ("A::operator bool() const", "A::operator bool"),
        ("operator+(A, B)", "operator+"), ("A::operator[](unsigned long)", "A::operator[]"),
        ("operator new(unsigned long)", "operator new"),
        ("operator<(A, B)", "operator<"), ("A::operator->()", "A::operator->"),
        ("f(int)::{lambda(int)#1}::operator()(int) const", "f::{lambda#1}::operator()"),
        ("std::string f[abi:cxx11](int)", "std::string f[abi:cxx11]"),
        ("non-virtual thunk to A::f()", "non-virtual thunk to A::f"),
        ("foo(int) [clone .constprop.0] [clone .cold]", "foo [clone .constprop.0] [clone .cold]"),
        ("puts(char const*)@plt", "puts@plt"),
    ])
    func cxx(full: String, simple: String) {
        #expect(SimpleName.of(full, linkage: "_Z1f") == simple)
    }

    @Test(arguments: [
        ("<Test as foo::Bar<T>>::bar", "<Test as foo::Bar<T>>::bar"),
        ("core::ptr::drop_in_place::<alloc::string::String>", "core::ptr::drop_in_place::<…>"),
        (
            "core::fmt::num::<impl core::fmt::Debug for u32>::fmt",
            "core::fmt::num::<impl core::fmt::Debug for u32>::fmt"
        ),
    ])
    func rust(full: String, simple: String) {
        #expect(SimpleName.of(full, linkage: "_R") == simple)
    }

    @Test(arguments: [
        ("main.hello() -> ()", "main.hello"),
        ("closure #1 () -> () in main.hello() -> ()", "closure #1 in main.hello"),
        (
            "Swift.String.init(cString: Swift.UnsafePointer<Swift.Int8>) -> Swift.String",
            "Swift.String.init"
        ),
        (
            "(extension in M):Swift.Array< where A: M.P>.f() -> ()",
            "(extension in M):Swift.Array<…>.f"
        ),
        ("M.Box.value.getter : Swift.Int", "M.Box.value.getter"),
        ("M.map<A>(f: (A) -> Swift.Dictionary<A, () -> ()>) -> A", "M.map<…>"),
    ])
    func swift(full: String, simple: String) {
        #expect(SimpleName.of(full, linkage: "$s4main") == simple)
    }

    @Test func stylesOfATable() {
        let address = FrameAddress(module: nil, address: CodeAddress(1, .instruction))
        func frame(_ function: String?, _ linkage: String?) -> SourceFrame {
            SourceFrame(
                function: function, file: "a.cc", line: 1, isInlined: false, linkageName: linkage)
        }
        var table = SymbolTable()
        // Of C and Go, nothing is left out: brackets are part of the name.
        let plain = frame("main.(*T).Get", nil)
        table.frames[address] = [frame("f(int)", "_Z1fi"), plain, frame(nil, nil)]
        func names(_ style: NameStyle) -> [String?]? {
            table.named(style).frames[address]?.map(\.function)
        }
        #expect(names(.none) == ["_Z1fi", "main.(*T).Get", nil])
        #expect(names(.simple) == ["f", "main.(*T).Get", nil])
        #expect(names(.full) == ["f(int)", "main.(*T).Get", nil])
        #expect(table.named(.simple).frames[address]?.map(\.line) == [1, 1, 1])
    }

    /// Names that no demangler writes: something is shown, at once.
    @Test(arguments: [
        "((((", "<<<<>", ")", "<>", "()", " ", "a -> ", " in ", "f(", "operator", "🔭(x)",
    ])
    func strangeNames(name: String) {
        for linkage in ["_Z", "_R", "$s"] {
            #expect(!SimpleName.of(name, linkage: linkage).isEmpty)
            let long = String(repeating: name, count: 2_000)
            #expect(!SimpleName.of(long, linkage: linkage).isEmpty)
        }
    }
}
