import Shipping
import Testing

@Suite struct HeaderListTests {
    private func parse(_ text: String) -> [String]? {
        HeaderList.parse(text)?.map { "\($0.name): \($0.value)" }
    }

    @Test func nothing() {
        #expect(parse("") == [])
        #expect(parse(",") == [])
    }

    @Test func values() {
        #expect(parse("api-key=abc") == ["api-key: abc"])
        #expect(parse("a=1, b=x=y") == ["a: 1", "b: x=y"])
        #expect(parse("Authorization=Basic%20YTpi") == ["Authorization: Basic YTpi"])
    }

    @Test(arguments: ["a", "a=", "=1", "a:b=1", "a=%", "a=%2", "a=%zz", "a=%0A", "a=ü", "ü=1"])
    func invalid(_ text: String) {
        #expect(parse(text) == nil)
    }
}
