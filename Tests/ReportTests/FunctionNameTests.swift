import Exports
import Report
import Testing

@Suite struct FunctionNameTests {
    @Test(arguments: [
        ("StarCatalogue::loadStars(unsigned long)", 30, "StarCatalogue::loadStars(…)"),
        ("StarCatalogue::loadStars(unsigned long)", 39, "StarCatalogue::loadStars(unsigned long)"),
        ("f()", 2, "…)"),
        ("(anonymous namespace)::bell(double)", 32, "(anonymous namespace)::bell(…)"),
        ("Cache::operator()(int, int)", 21, "Cache::operator()(…)"),
        (
            "std::vector<int, std::allocator<int> >::push_back(int const&)", 30,
            "std::vector<…>::push_back(…)"
        ),
        ("outer((a), (b))", 9, "outer(…)"),
        ("left(open", 8, "left…pen"),
        ("operator<<(std::ostream&, int)", 15, "operator<<(…)"),
        ("base::quote(int) [clone .isra.0] [clone .cold]", 20, "base::quote(int)"),
        (Self.long, 52, "v8::internal::(anonymous namespace)::InvokeStub(…)"),
        (Self.long, 40, "v8::internal::(anonymous…::InvokeStub(…)"),
        (Self.long, 20, "v8::…::InvokeStub(…)"),
        (Self.long, 16, "…::InvokeStub(…)"),
        ("closure #1 in Sky.draw(at: Int)", 25, "closure #1 in Sky.draw(…)"),
        ("core::ops::function::FnOnce::call_once", 24, "core::ops::f…::call_once"),
    ])
    func theLeastTellingPartsAreDroppedFirst(name: String, width: Int, expected: String) {
        #expect(name.shortenedFunction(to: width) == expected)
    }

    private static let long =
        "v8::internal::MaybeHandle<v8::internal::Object> v8::internal::(anonymous namespace)"
        + "::InvokeStub(v8::internal::Isolate*) [clone .isra.0]"

    @Test(arguments: ["a::b<c(d)>::operator()(std::function<void (int)> const&)", long])
    func neverWiderThanAsked(name: String) {
        for width in 0...name.count {
            #expect(name.shortenedFunction(to: width).displayWidth <= width)
        }
    }
}
