import ProfileCLI
import ProfileModel
import Testing

/// The arguments that `line`, split at spaces, is understood as; nil when it is not a run.
func parsedArguments(_ line: String) -> ParsedArguments? {
    guard case .success(.run(let arguments)) = parse(line) else { return nil }
    return arguments
}

func parse(_ line: String) -> Result<Invocation, UsageError> {
    ArgumentParser.parse(line.split(separator: " ").map(String.init))
}

@Suite struct ParserTests {
    @Test(arguments: [
        "record --output a --frequency 50 -- ls -l", "record --output=a --frequency=50 ls -l",
        "record -o a -F 50 ls -l", "record -oa -F50 -- ls -l", "record -F 7 -F50 -oa ls -l",
    ]) func forms(line: String) throws {
        let arguments = try #require(parsedArguments(line))
        #expect(arguments.subcommand == .record)
        #expect(arguments.options == [.output: .text("a"), .frequency: .integer(50)])
        #expect(arguments.operands == ["ls", "-l"])
    }

    @Test(arguments: [
        ("record ls -F 5 --help -- -o x", ["ls", "-F", "5", "--help", "--", "-o", "x"]),
        ("record -- -F --", ["-F", "--"]),
        ("record -- -- x", ["--", "x"]),
        ("record - x", ["-", "x"]), ("measure ls -n 5", ["ls", "-n", "5"]),
    ]) func theProgramsWordsAreItsOwn(line: String, operands: [String]) throws {
        let arguments = try #require(parsedArguments(line))
        #expect(arguments.options.isEmpty)
        #expect(arguments.operands == operands)
    }

    @Test(arguments: ["report --depth 3 f", "report f --depth 3", "report --depth=3 -- f"])
    func optionsOnEitherSide(line: String) throws {
        let arguments = try #require(parsedArguments(line))
        #expect(arguments.operands == ["f"])
        #expect(arguments.options == [.depth: .integer(3)])
    }

    @Test func afterTheDashesThereAreNoOptions() {
        #expect(parsedArguments("report -- --depth")?.operands == ["--depth"])
        #expect(parsedArguments("attach -- -5")?.operands == ["-5"])
        #expect(parsedArguments("fold -")?.operands == ["-"])
    }

    /// A value is taken as it is, as getopt(3) does.
    @Test func valuesMayLookLikeOptions() {
        #expect(parsedArguments("record -o --quiet ls")?.options == [.output: .text("--quiet")])
        #expect(parsedArguments("record --output=a=b ls")?.text(.output) == "a=b")
    }

    /// It stands behind a `=`, or nowhere.
    @Test func optionalValues() {
        #expect(parsedArguments("measure --cold ls")?.options == [.cold: .given])
        #expect(parsedArguments("measure --cold=all ls")?.options == [.cold: .text("all")])
        #expect(parsedArguments("measure --cold all")?.operands == ["all"])
        #expect(parsedArguments("measure --cold=all --cold ls")?.options == [.cold: .given])
    }

    @Test(arguments: [
        ("", 2, "nothing to do; see 'firstlight --help'"),
        ("-", 2, "unknown option '-'; see 'firstlight --help'"),
        ("--vresion", 2, "unknown option '--vresion'; did you mean '--version'?"),
        ("recrod ls", 2, "unknown subcommand 'recrod'; did you mean 'record'?"),
        ("./app", 2, "unknown subcommand './app'; see 'firstlight --help'"),
        ("help fodl", 2, "unknown subcommand 'fodl'; did you mean 'fold'?"),
        ("record", 125, "record: no program given; see 'firstlight help record'"),
        ("record --", 125, "record: no program given; see 'firstlight help record'"),
        ("attach", 125, "attach: no process id given; see 'firstlight help attach'"),
        ("attach 1 2", 125, "attach: more than one process id: '2'"),
        ("attach --wait", 125, "attach: --wait needs a value: NAME"),
        ("attach --wait= ", 125, "attach: invalid wait '': it must not be empty"),
        ("attach --wait x 1", 125, "attach: a process id and --wait do not go together"),
        ("attach 1 --wait x", 125, "attach: a process id and --wait do not go together"),
        ("record --wait x ls", 125, "record: unknown option '--wait'; it belongs to attach"),
        ("doctor now", 2, "doctor: takes no operand, but got 'now'"),
        ("doctor --view x", 2, "doctor: unknown option '--view'; it belongs to report"),
        ("docter", 2, "unknown subcommand 'docter'; did you mean 'doctor'?"),
        ("report a b", 2, "report: more than one file: 'b'"),
        (
            "record --frequnecy 5 ls", 125,
            "record: unknown option '--frequnecy'; did you mean '--frequency'?"
        ),
        ("record --freq=5 ls", 125, "record: unknown option '--freq'; did you mean '--frequency'?"),
        ("record -f 5 ls", 125, "record: unknown option '-f'; did you mean '-F'?"),
        ("record -x ls", 125, "record: unknown option '-x'; see 'firstlight help record'"),
        ("attach --dur 1s 5", 125, "attach: unknown option '--dur'; did you mean '--duration'?"),
        (
            "attach --after stop 5", 125,
            "attach: unknown option '--after'; it belongs to record, measure and gate"
        ),
        (
            "doctor --interval x", 2,
            "doctor: unknown option '--interval'; it belongs to report, fold and export"
        ),
        ("record -n 5 ls", 125, "record: unknown option '-n'; it belongs to measure"),
        ("measure", 125, "measure: no program given; see 'firstlight help measure'"),
        ("measure --cold=none ls", 125, "measure: unknown cold 'none': it must be all or copies"),
        ("report --wieght cpu", 2, "report: unknown option '--wieght'; did you mean '--weight'?"),
        ("report --", 0, ""),
        (
            "fold --depth 3", 2,
            "fold: unknown option '--depth'; it belongs to report, compare and top"
        ),
        ("fold --zzz", 2, "fold: unknown option '--zzz'; see 'firstlight help fold'"),
        ("fold --no-phase=x", 2, "fold: --no-phase takes no value"),
        ("record -F", 125, "record: -F needs a value: HZ"),
        ("report --phase", 2, "report: --phase needs a value: NAME"),
        ("record --output= ls", 125, "record: invalid output '': it must not be empty"),
        (
            "record --capture dtrace ls", 125,
            "record: unknown capture 'dtrace': it must be signal or ptrace; did you mean 'ptrace'?"
        ),
        (
            "record --after stpo ls", 125,
            "record: unknown after 'stpo': it must be keep or stop; did you mean 'stop'?"
        ),
        (
            "fold --weight cup", 2,
            """
            fold: unknown weight 'cup': it must be cpu, wall, blocked or runnable; \
            did you mean 'cpu'?
            """
        ),
        (
            "record --duration 5 ls", 125,
            """
            record: invalid duration '5': it must be a time with its unit, like 250ms, 1.5s or 2m; \
            did you mean 5s or 5ms?
            """
        ),
        (
            "report --min-percent 101", 2,
            "report: invalid min percent '101': it must be a number from 0 to 100"
        ),
        ("report --depth 0", 2, "report: invalid depth '0': it must be a whole number from 1"),
    ]) func errors(line: String, status: Int32, message: String) {
        switch parse(line) {
        case .failure(let error):
            #expect(error.description == message)
            #expect(error.exitStatus == status)
        case .success: #expect(status == 0)
        }
    }

    @Test(arguments: ["0", "-1", "10001", "99999999999999999999", "1e3", "0x10", "5.5", "", "+5"])
    func frequencies(value: String) throws {
        let words = ["record", "-F", value, "ls"]
        guard case .failure(let error) = ArgumentParser.parse(words) else {
            Issue.record("accepted")
            return
        }
        #expect(error.exitStatus == 125)
        #expect(
            error.message
                == "invalid frequency '\(value)': it must be a whole number from 1 to 10000")
    }

    @Test func help() {
        func topic(_ line: String) -> Subcommand?? {
            guard case .success(.help(let subcommand)) = parse(line) else { return nil }
            return .some(subcommand)
        }
        for line in ["--help", "-h", "help", "help --help"] {
            #expect(topic(line) == .some(nil), "\(line)")
        }
        for line in ["help fold", "fold --help", "fold -h x", "fold --no-phase --help --zzz"] {
            #expect(topic(line) == .some(.fold), "\(line)")
        }
        #expect(topic("record ls --help") == nil)
    }
}
