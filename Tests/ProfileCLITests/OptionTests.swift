import Analysis
import Exports
import ProfileCLI
import ProfileModel
import Report
import Sampler
import Testing

@testable import Launching

@Suite struct OptionTests {
    @Test(arguments: [
        ("250ms", 250_000_000), ("2s", 2_000_000_000), ("1.5s", 1_500_000_000),
        ("100us", 100_000), ("100µs", 100_000), ("1m", 60_000_000_000), ("7ns", 7),
        ("1.23456789s", 1_234_567_890), ("0.5ms", 500_000), (".5s", 500_000_000),
        ("1min", 60_000_000_000), ("1h", 3_600_000_000_000), ("1.9999999999999999s", 1_999_999_999),
        ("365m", 21_900_000_000_000),
    ]) func durations(text: String, nanoseconds: Int64) {
        #expect(DurationArgument.parse(text)?.nanoseconds == nanoseconds)
    }

    @Test(arguments: [
        "", "5", "s", "ms", "0s", "0.0s", "-1s", "+1s", "1 s", "1.s", "1..5s", "1.5.5s", "1e3s",
        "1S", "infs", "9223372036854775807s", "99999999999999999999ms", "9000h", "0.1ns", ".s",
        "٣s",
    ]) func noDurations(text: String) {
        #expect(DurationArgument.parse(text) == nil)
    }

    @Test(arguments: [
        ("0", 0.0), ("100", 100), ("2.5", 2.5), ("5%", 5), (".5", 0.5),
    ]) func percents(text: String, value: Double) {
        #expect(ValueKind.percent.value(of: text) == .percent(value))
    }

    @Test(arguments: ["", "%", ".", "nan", "inf", "1e1", "0x1", "-1", "100.1", "1.2.3", "5%%"])
    func noPercents(text: String) {
        #expect(ValueKind.percent.value(of: text) == nil)
    }

    @Test func recordOptions() throws {
        let plain = try RecordOptions(try #require(parsedArguments("record ls")))
        #expect(plain.target == .launch([CommandWord("ls")]))
        #expect(plain.output == "launch.firstlight")
        #expect(plain.frequency == 1_000)
        #expect(plain.duration == nil)
        #expect(plain.capture == .untraced)
        #expect(plain.stackBytes == 262_144)
        #expect(plain.after == nil)
        #expect(plain.end.until.isEmpty)
        #expect(!plain.isQuiet)
        #expect(plain.usesSymbolCache)
        #expect(plain.network == nil && plain.disk == nil)
        let line = """
            record -o x -F10000 --duration 1.5s --capture ptrace --after stop --stack-bytes 4096 \
            --symbol-cache off --quiet --network 3G --disk 1M -- ls -l
            """
        let full = try RecordOptions(try #require(parsedArguments(line)))
        #expect(full.target == .launch([CommandWord("ls"), CommandWord("-l")]))
        #expect(full.output == "x")
        #expect(full.network == "3G" && full.disk == "1M")
        #expect(full.frequency == 10_000)
        #expect(full.duration == .milliseconds(1_500))
        #expect(full.capture == .ptrace)
        #expect(full.stackBytes == 4_096)
        #expect(full.after == .stop)
        #expect(full.isQuiet)
        #expect(!full.usesSymbolCache)
    }

    @Test func processIDs() throws {
        #expect(
            try RecordOptions(try #require(parsedArguments("attach 42"))).target == .attach(pid: 42)
        )
        for text in ["0", "-- -5", "1x", "99999999999", "init", "+5"] {
            let arguments = try #require(parsedArguments("attach \(text)"))
            let error = #expect(throws: UsageError.self) { try RecordOptions(arguments) }
            #expect(error?.exitStatus == 125)
        }
    }

    @Test func awaitedPrograms() throws {
        let options = try RecordOptions(try #require(parsedArguments("attach --wait nginx -F 50")))
        #expect(options.target == .await(try #require(ProgramName("nginx"))))
        #expect(options.frequency == 50)
        for text in ["a/b", "/bin/ls", "./x"] {
            let arguments = try #require(parsedArguments("attach --wait \(text)"))
            let error = #expect(throws: UsageError.self) { try RecordOptions(arguments) }
            #expect(error?.exitStatus == 125)
            #expect(error?.message.contains("'\(text)'") == true)
        }
    }

    @Test func doctorOptions() throws {
        #expect(DoctorOptions(try #require(parsedArguments("doctor"))).format == .text)
        let arguments = try #require(parsedArguments("doctor --format json"))
        #expect(DoctorOptions(arguments).format == .json)
    }

    @Test func reportOptions() throws {
        let plain = try ReportOptions(try #require(parsedArguments("report")))
        #expect(plain.file == "launch.firstlight")
        #expect(plain.format == .text)
        #expect(plain.view == .summary)
        #expect(plain.weight == nil)
        let line = """
            report f --view bottom-up --phase main --thread 5 --weight wall --min-percent 0.5 \
            --depth 9 --interval load --min-duration 20ms
            """
        let full = try ReportOptions(try #require(parsedArguments(line)))
        #expect(full.file == "f")
        #expect(full.view == .bottomUp)
        #expect(full.phase == "main")
        #expect(full.thread == "5")
        #expect(full.interval == "load")
        #expect(full.weight == .wall)
        #expect(full.minPercent == 0.5)
        #expect(full.depth == 9)
        #expect(plain.minDuration == nil && full.minDuration == .milliseconds(20))
        // What counts as an event is asked of JSON, too.
        let events = try #require(parsedArguments("report --format json --min-duration 5ms"))
        #expect(try ReportOptions(events).minDuration == .milliseconds(5))
        for option in ["--phase main", "--interval load", "--view libraries"] {
            let mixed = try #require(parsedArguments("report --format json \(option)"))
            #expect(throws: UsageError.self) { try ReportOptions(mixed) }
        }
    }

    @Test func partsOfJSON() throws {
        let plain = try ReportOptions(try #require(parsedArguments("report --format json")))
        #expect(plain.parts.isEmpty)
        let both = try #require(parsedArguments("report --format json --with timeline,events"))
        #expect(try ReportOptions(both).parts == [.events, .timeline])
        for words in ["--with events", "--format html --with events", "--format json --with all"] {
            let wrong = try #require(parsedArguments("report \(words)"))
            #expect(throws: UsageError.self) { try ReportOptions(wrong) }
        }
    }

    @Test func htmlIsComplete() throws {
        let line = "report --format html -o page.html --embed-source --demangle simple f"
        let full = try ReportOptions(try #require(parsedArguments(line)))
        #expect(full.format == .html && full.output == "page.html" && full.embedsSource)
        for option in ["--thread 5", "--weight wall", "--min-duration 5ms"] {
            let mixed = try #require(parsedArguments("report --format html \(option)"))
            #expect(throws: UsageError.self) { try ReportOptions(mixed) }
        }
        for words in ["--embed-source", "--format html --source-root src"] {
            let text = try #require(parsedArguments("report \(words)"))
            #expect(throws: UsageError.self) { try ReportOptions(text) }
        }
        let rooted = try #require(
            parsedArguments("report --format html --embed-source --source-root src"))
        #expect(try ReportOptions(rooted).sourceRoot == "src")
        #expect(parsedArguments("doctor --format html") == nil)
    }

    @Test func viewOptions() throws {
        #expect(ViewOptions(try #require(parsedArguments("view"))).file == "launch.firstlight")
        let full = ViewOptions(try #require(parsedArguments("view --demangle none f")))
        #expect(full.file == "f" && full.names == .none)
    }

    @Test func foldOptions() throws {
        let plain = FoldOptions(try #require(parsedArguments("fold")))
        #expect(plain.showsPhase && plain.showsThread && plain.weight == .cpu)
        let full = FoldOptions(
            try #require(
                parsedArguments("fold --no-phase --no-thread --weight blocked --interval a f")))
        #expect(full.interval == "a")
        #expect(!full.showsPhase && !full.showsThread && full.weight == .blocked)
        #expect(full.file == "f")
    }
}

/// The table is the one source of parsing, help and manual page.
@Suite struct OptionTableTests {
    @Test(arguments: Subcommand.allCases) func everyOptionIsParsedAndExplained(
        subcommand: Subcommand
    ) throws {
        let options = OptionTable.options(of: subcommand)
        #expect(Set(options.map(\.long)).count == options.count)
        let shorts = options.compactMap(\.short)
        #expect(Set(shorts).count == shorts.count)
        for option in options where option.name != .help {
            var words = [subcommand.rawValue, "--" + option.long]
            if case .optional(let values) = option.kind {
                words[1] += "=" + (try #require(values.first))
            } else if option.kind != .none {
                words.append(try #require(sample(option.kind)))
            }
            // One operand, where there may be one.
            if subcommand != .doctor, option.name != .wait { words.append("1") }
            if subcommand == .compare { words.append("2") }
            if option.name == .resolve { words += ["--resolved", "x"] }
            guard case .success(.run(let parsed)) = ArgumentParser.parse(words) else {
                Issue.record("\(words)")
                continue
            }
            #expect(parsed.options[option.name] != nil)
            #expect(HelpText.render(subcommand).contains("--" + option.long))
            #expect(option.placeholder.isEmpty == (option.kind == .none))
        }
    }

    private func sample(_ kind: ValueKind) -> String? {
        ["1s", "5", "4096", "2GB", "x"].first { kind.value(of: $0) != nil } ?? choices(kind)?.first
    }

    private func choices(_ kind: ValueKind) -> [String]? {
        guard case .choice(let words) = kind else { return nil }
        return words
    }

    @Test func helpFitsATerminal() {
        for text in [HelpText.render(nil)] + Subcommand.allCases.map({ HelpText.render($0) }) {
            #expect(text.hasSuffix("\n"))
            for line in text.split(separator: "\n") {
                #expect(line.count <= 80, "\(line)")
            }
        }
    }
}

@Suite struct SuggestionTests {
    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("", "abc", 3), ("abc", "abc", 0), ("abc", "acb", 1),
        ("kitten", "sitting", 3), ("frequnecy", "frequency", 1), ("ab", "ba", 1),
    ]) func distances(left: String, right: String, expected: Int) {
        #expect(Suggestions.distance(left, right) == expected)
        #expect(Suggestions.distance(right, left) == expected)
    }

    @Test(arguments: [
        ("tre", "tree"), ("thraeds", "threads"), ("heavyest", "heaviest"), ("sum", "summary"),
    ]) func near(word: String, expected: String) {
        let views = View.allCases.map(\.rawValue)
        #expect(Suggestions.nearest(to: word, among: views) == expected)
    }

    @Test(arguments: ["", "x", "flamegraph"]) func nothingNear(word: String) {
        #expect(Suggestions.nearest(to: word, among: View.allCases.map(\.rawValue)) == nil)
    }

    /// A word as long as the command line allows must not take minutes.
    @Test func longWords() {
        let word = String(repeating: "x", count: 100_000)
        #expect(Suggestions.nearest(to: word, among: ["--frequency"]) == nil)
    }
}
