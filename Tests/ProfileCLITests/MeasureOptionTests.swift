import ProfileCLI
import ProfileModel
import Readiness
import Sampler
import Testing

@testable import Launching

@Suite struct MeasureOptionTests {
    private func options(_ words: [String]) throws -> MeasureOptions {
        let parsed = ArgumentParser.parse(["measure"] + words)
        guard case .success(.run(let arguments)) = parsed else { throw try problem(of: parsed) }
        return try MeasureOptions(arguments)
    }

    private func problem(of parsed: Result<Invocation, UsageError>) throws -> UsageError {
        guard case .failure(let error) = parsed else {
            Issue.record("\(parsed)")
            return UsageError(nil, "")
        }
        return error
    }

    @Test func plain() throws {
        let plain = try options(["ls", "-l"])
        #expect(plain.program == [CommandWord("ls"), CommandWord("-l")])
        #expect(plain.against == nil)
        #expect(plain.launches == 10)
        #expect(plain.end.until.isEmpty && plain.end.watchdog == nil)
        #expect(plain.after == .stop)
        #expect(plain.cache == .warm)
        #expect(plain.network == nil && plain.disk == nil)
        #expect(plain.home == .own && plain.environmentFile == nil)
        #expect(plain.before == nil && plain.between == nil)
        #expect(!plain.endsDaemons && !plain.thenRecords && !plain.isQuiet)
        #expect(plain.output == "launches.firstlight")
        #expect(plain.versionName == nil)
        #expect(plain.format == .text)
    }

    @Test func theHelpNamesEveryEnd() {
        func help(_ subcommand: Subcommand) -> String {
            OptionTable.options(of: subcommand).first { $0.long == "until" }?.help ?? ""
        }
        for end in [
            "exit (", "notify (", "listen[:PORT] (", "output[:TEXT] (", "window (", "frame (",
            "idle:TIME (", "signpost:NAME (",
        ] {
            #expect(help(.measure).contains(end) && help(.record).contains(end))
        }
        #expect(!help(.measure).contains("mark:") && help(.record).contains("mark:NAME"))
    }

    @Test func full() throws {
        let full = try options([
            "-n", "100000", "--until", "listen:80", "--until=notify", "--watchdog", "5s", "--cold",
            "--network", "3G", "--disk=1M", "--clean", "--between", "sync", "--before=make x",
            "--env-file", "e", "--home", "h", "--against", "./old 'a b'", "-o", "x.firstlight",
            "--version-name", "1.2", "--after", "keep", "--format", "json", "--",
            "ls", "--cold=all",
        ])
        #expect(full.program == [CommandWord("ls"), CommandWord("--cold=all")])
        #expect(full.launches == 100_000)
        #expect(full.end.until == [.listen(port: 80), .notify])
        #expect(full.end.watchdog == .milliseconds(5_000))
        #expect(full.cache == .cold)
        #expect(full.network == "3G" && full.disk == "1M")
        #expect(full.endsDaemons && !full.thenRecords)
        #expect(try options(["--then-record", "--until", "window", "ls"]).thenRecords)
        #expect(full.between == "sync" && full.before == "make x")
        #expect(full.environmentFile == "e" && full.home == .copy(of: "h"))
        #expect(full.against == ["./old", "a b"])
        #expect(full.output == "x.firstlight" && full.versionName == "1.2")
        #expect(full.after == .keep && full.format == .json)
    }

    @Test func coldness() throws {
        #expect(try options(["--warm", "ls"]).cache == .warm)
        #expect(try options(["--cold", "ls"]).cache == .cold)
        #expect(try options(["--cold=all", "ls"]).cache == .coldAll)
        #expect(try options(["--cold=copies", "ls"]).cache == .coldCopies)
        // The next word is none of its values.
        #expect(try options(["--cold", "all"]).program == [CommandWord("all")])
    }

    /// The launch with stacks has the conditions of the others.
    @Test func recordingUnderConditions() throws {
        let words = ["--then-record", "--cold", "--network", "3G", "--disk", "1M", "--fresh-home"]
        #expect(try options(words + ["ls"]).thenRecords)
    }

    /// Waiting for a program to be ready has a limit.
    @Test func watchdog() throws {
        #expect(try options(["--until", "listen", "ls"]).end.watchdog == .milliseconds(60_000))
        #expect(try options(["--until", "exit", "ls"]).end.watchdog == nil)
        let own = try options(["--until", "listen", "--watchdog", "2m", "ls"])
        #expect(own.end.watchdog == .milliseconds(120_000))
    }

    @Test(arguments: [
        ("launches.firstlight", "launches.launch.firstlight"), ("a/b", "a/b.launch.firstlight"),
        (".firstlight", ".launch.firstlight"),
    ])
    func whereTheRecordingGoes(output: String, recording: String) throws {
        #expect(try options(["-o", output, "ls"]).recordingPath == recording)
    }

    @Test(arguments: [
        ("-n 0 ls", "invalid launches '0': it must be a whole number from 1 to 100000"),
        ("-n 100001 ls", "invalid launches '100001'"), ("-n -1 ls", "invalid launches '-1'"),
        ("-n 1.5 ls", "invalid launches '1.5'"), ("-n ten ls", "invalid launches 'ten'"),
        ("-n 99999999999999999999 ls", "invalid launches"), ("-n", "-n needs a value: N"),
        ("", "no program given; see 'firstlight help measure'"), ("-n 5", "no program given"),
        ("--until never ls", "invalid until 'never'"),
        ("--until mark:x ls", "--until mark:x is for record"),
        ("--warm --cold ls", "--warm and --cold do not go together"),
        ("--cold=all --warm ls", "--warm and --cold do not go together"),
        ("--cold=some ls", "unknown cold 'some': it must be all"),
        ("--cold= ls", "unknown cold ''"), ("--warm=1 ls", "--warm takes no value"),
        ("--fresh-home --home x ls", "--fresh-home and --home do not go together"),
        ("--quiet --format json ls", "--format and --quiet do not go together"),
        ("--after keep ls", "--after needs a program that becomes ready"),
        ("--after keep --until exit ls", "--after needs a program that becomes ready"),
        ("--after kill --until listen ls", "unknown after 'kill': it must be keep or stop"),
        ("--against a|b ls", "--against: the | at 2 is for a shell"),
        ("--against ' ls", "--against: the ' at 1 is not closed"),
        ("--format html ls", "unknown format 'html': it must be text or json"),
        ("--watchdog 5 ls", "invalid watchdog '5'"), ("--duration 5s ls", "it belongs to record"),
        ("--launchs 5 ls", "did you mean '--launches'?"),
        ("--env-file= ls", "invalid env file ''"),
    ])
    func refusals(line: String, words: String) {
        let list = line.split(separator: " ").map(String.init)
        let error = #expect(throws: UsageError.self) { try options(list) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        #expect(error?.description.hasPrefix("measure: ") == true)
        #expect(error?.exitStatus == 125)
    }
}
