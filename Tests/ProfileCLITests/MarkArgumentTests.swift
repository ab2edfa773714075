import ProfileModel
import Readiness
import Sampler
import Testing

@testable import ProfileCLI

@Suite struct MarkArgumentTests {
    @Test(arguments: [
        ("a=load", MarkRequest.Place.function("load", library: nil, isSpan: false)),
        ("a=load..", .function("load", library: nil, isSpan: true)),
        ("a=ns::C::operator==..", .function("ns::C::operator==", library: nil, isSpan: true)),
        ("a=libx.so.1!load", .function("load", library: "libx.so.1", isSpan: false)),
        ("a=libx.so!load..", .function("load", library: "libx.so", isSpan: true)),
        ("a=C::operator!=", .function("C::operator!=", library: nil, isSpan: false)),
        ("a=usdt:python:gc__start", .probe(provider: "python", name: "gc__start")),
    ])
    func places(text: String, place: MarkRequest.Place) {
        #expect(MarkArgument.parse(text) == MarkRequest(name: "a", place: place))
    }

    /// A parsed mark is written in the same way.
    @Test(arguments: ["a b=load", "é=libx.so!load..", "p=usdt:a:b"])
    func words(text: String) { #expect(MarkArgument.parse(text)?.description == text) }

    @Test(arguments: [
        "", "a", "=load", "a=", "a=..", "a=load...", "a=usdt:", "a=usdt:p", "a=usdt:p:",
        "a=usdt::n", "a=usdt:p:n:x", "a=!load", "a=libx.so!", "a=libx.so!..",
        String(repeating: "n", count: 129) + "=load",
    ])
    func noPlaces(text: String) { #expect(MarkArgument.parse(text) == nil) }

    private func options(_ line: String) throws -> RecordOptions {
        try RecordOptions(try #require(parsedArguments(line)))
    }

    @Test func several() throws {
        let record = try options("record --mark a=x --mark=b=y.. --until mark:b ls")
        #expect(record.marks.map(\.name) == ["a", "b"])
        #expect(record.end.until == [.mark("b")])
        #expect(try options("attach --mark a=x 5").marks.count == 1)
        #expect(try options("record ls").marks.isEmpty)
    }

    @Test(arguments: [
        ("record --mark a ls", "invalid mark 'a'"),
        ("record --mark a=x --mark a=y ls", "two marks are called 'a'"),
        ("record --mark a=x --capture ptrace ls", "do not go together"),
        ("record --mark a=x --follow-children ls", "do not go together"),
        ("record --mark a=x --until mark:b ls", "needs the mark"),
        ("attach --until mark:b 5", "needs the mark"),
    ])
    func refusals(line: String, words: String) {
        let error = #expect(throws: UsageError.self) { try options(line) }
        #expect(error?.description.contains(words) == true)
        #expect(error?.exitStatus == 125)
    }
}
