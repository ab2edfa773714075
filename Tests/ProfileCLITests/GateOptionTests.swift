import ProfileCLI
import ProfileModel
import Readiness
import Sampler
import Testing

@testable import Launching

@Suite struct GateOptionTests {
    private func options(_ words: [String]) throws -> GateOptions {
        switch ArgumentParser.parse(["gate"] + words) {
        case .success(.run(let arguments)): return try GateOptions(arguments)
        case .failure(let error): throw error
        case .success(let other):
            Issue.record("\(other)")
            throw UsageError(nil, "")
        }
    }

    @Test func plain() throws {
        let plain = try options(["--baseline", "./old 'a b'", "./new", "-l"])
        #expect(plain.launching.program == [CommandWord("./new"), CommandWord("-l")])
        #expect(plain.baseline == "./old 'a b'")
        #expect(plain.maxRegression == 0.03 && plain.maxLaunches == 40)
        #expect(plain.junit == nil && plain.output == nil)
        #expect(plain.launching.format == .text && !plain.launching.isQuiet && !plain.explains)
        #expect(plain.programName == "new")
    }

    @Test func full() throws {
        let full = try options([
            "--baseline=b.firstlight", "--max-regression", "5.5%", "--max-launches", "100",
            "--junit", "g.xml", "-o", "x.firstlight", "--until", "listen", "--cold", "--network",
            "3G", "--disk", "1M", "--before", "a", "--between", "b", "--env-file", "e",
            "--fresh-home", "--clean", "--after", "keep", "--version-name", "1", "--watchdog", "5s",
            "--format", "json", "--", "ls",
        ])
        #expect(full.maxRegression == 0.055 && full.maxLaunches == 100)
        #expect(full.junit == "g.xml" && full.output == "x.firstlight")
        #expect(try options(["--baseline", "x", "--explain", "ls"]).explains)
        let launching = full.launching
        #expect(launching.end.until == [.listen(port: nil)] && launching.cache == .cold)
        #expect(launching.network == "3G" && launching.disk == "1M")
        #expect(launching.before == "a" && launching.between == "b" && launching.home == .fresh)
        #expect(launching.endsDaemons && launching.after == .keep)
        #expect(launching.versionName == "1" && launching.format == .json)
    }

    @Test(arguments: [
        ("ls", "nothing to compare it with; name a command or a measurement by --baseline"),
        ("--baseline x", "no program given; see 'firstlight help gate'"),
        ("--baseline= ls", "invalid baseline ''"),
        ("--baseline x --max-launches 3 ls", "invalid max launches '3': it must be a whole number"),
        ("--baseline x --max-launches 10001 ls", "from 7 to 10000"),
        ("--baseline x --max-regression 3x ls", "invalid max regression '3x'"),
        ("--baseline x --max-regression -1 ls", "invalid max regression '-1'"),
        ("--baseline x --until mark:x ls", "gate puts no marks"),
        ("--baseline x --warm --cold ls", "--warm and --cold do not go together"),
        ("--baseline x --quiet --format json ls", "do not go together"),
        ("--baseline x --explain --quiet ls", "--explain is text, which --quiet does not show"),
        ("--baseline x --explain --format json ls", "which --format json does not show"),
        ("--baseline x -n 5 ls", "unknown option '-n'; it belongs to measure"),
        ("--baseline x --against y ls", "it belongs to measure"),
        ("--baseline x --then-record ls", "it belongs to measure"),
        ("--baselin x ls", "did you mean '--baseline'?"),
    ]) func refusals(line: String, words: String) {
        let list = line.split(separator: " ").map(String.init)
        let error = #expect(throws: UsageError.self) { try options(list) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        #expect(error?.description.hasPrefix("gate: ") == true)
        #expect(error?.exitStatus == 125)
    }
}
