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
    ])
    func argumentsGoFirst(name: String, width: Int, expected: String) {
        #expect(name.shortenedFunction(to: width) == expected)
    }

    @Test func neverWiderThanAsked() {
        let name = "a::b<c(d)>::operator()(std::function<void (int)> const&)"
        for width in 0...name.count {
            #expect(name.shortenedFunction(to: width).displayWidth <= width)
        }
    }
}
