import Analysis
import ProfileCLI
import Testing

@Suite struct VersionCompareOptionTests {
    private func options(_ line: String) throws -> VersionCompareOptions {
        switch try CompareRequest(try #require(parsedArguments(line))) {
        case .versions(let options): return options
        case .files: throw Files()
        }
    }

    private struct Files: Error {}

    @Test func words() throws {
        let usual = try options("compare --from http://h:8123/d app 1.0 1.1")
        #expect(
            usual.request
                == VersionRequest(program: "app", before: "1.0", after: "1.1", machines: .alike))
        #expect("\(usual.store)" == "http://h:8123/d" && usual.format == .text)
        #expect(usual.output == nil && !usual.showsTimings)
        let full = try options(
            "compare --from http://h/d --machines each --format json -o x --timings a b c")
        #expect(full.request.machines == .each && full.format == .json)
        #expect(full.output == "x" && full.showsTimings)
        #expect(throws: Files.self) { try options("compare a b") }
    }

    @Test(arguments: [
        ("a b", "compare: --from needs three operands: a program, and two of its versions"),
        ("a b c d", "compare: --from needs three operands: a program, and two of its versions"),
        ("a b c --anyway", "compare: --anyway does not go with --from: it is for files"),
        ("a b c --phase main", "compare: --phase does not go with --from: it is for files"),
        ("a b --with c", "compare: --with does not go with --from: it is for files"),
        (
            "a b c --format svg",
            "compare: --format svg does not go with --from: it is for recordings"
        ),
    ])
    func usageErrors(words: String, message: String) {
        let error = #expect(throws: UsageError.self) {
            try options("compare --from http://h/d \(words)")
        }
        #expect(error?.description == message)
        #expect(error?.exitStatus == 2)
    }

    @Test func machinesAreForStores() throws {
        let files = try run(["compare", "--machines", "each", "a", "b"])
        #expect(files.status == 2 && files.error.contains("--machines goes with --from only"))
        let address = try run(["compare", "--from", "http://me:secret@h/d", "a", "b", "c"])
        #expect(address.status == 2 && !address.error.contains("secret"))
    }
}
