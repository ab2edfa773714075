import Testing

@testable import Symbolicate

/// The symbols that a user means by a name.
@Suite struct FunctionNameTests {
    private func matches(_ name: String, _ symbol: String) -> Bool {
        Array(symbol.utf8).withUnsafeBytes { FunctionName(name).matches($0) }
    }

    @Test(arguments: [
        ("main", "main"), ("_ZN2ns5Class6methodEi", "_ZN2ns5Class6methodEi"),
        ("ns::Class::method", "_ZN2ns5Class6methodEi"),
        ("ns::Class::method", "_ZNK2ns5Class6methodEv"),
        ("ns::Class::operator()", "_ZN2ns5ClassclEi"),
        ("(anonymous namespace)::run", "_ZN12_GLOBAL__N_13runEv"),
        ("core::run", "_ZN4core3run17h0123456789abcdefE"),
        ("int twice<int>", "_Z5twiceIiET_S0_"), ("twice<int>", "_Z5twiceIiET_S0_"),
    ])
    func meant(name: String, symbol: String) { #expect(matches(name, symbol)) }

    @Test(arguments: [
        ("main", "main.cold"), ("method", "_ZN2ns5Class6methodEi"),
        ("ns::Class::method", "_ZN2ns5Class6methodEi.cold"),
        ("ns::Class::method", "_ZN2ns5Class6methodEi.part.0"),
        ("ns::Class", "_ZN2ns5Class6methodEi"), ("", "main"), ("main", ""), ("x", "_"),
        ("ns::Class::method(int)", "_ZN2ns5Class6methodEi"),
    ])
    func notMeant(name: String, symbol: String) { #expect(!matches(name, symbol)) }

    @Test(arguments: [
        ("a::b(int) const", "a::b"), ("operator()(int)", "operator()"), ("a", "a"), ("()", "()"),
        ("f(g(h))", "f"), ("f() &", "f"), ("a [clone .constprop.0]", "a"), (")", ")"), ("", ""),
    ])
    func parametersAreNoPart(readable: String, name: String) {
        #expect(FunctionName.withoutParameters(readable).first == name)
    }
}
