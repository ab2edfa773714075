import ProfileCLI
import Testing

@Suite struct CommandSplittingTests {
    /// What `printf '%s\n' …` prints in dash and bash.
    @Test(arguments: [
        ("a", ["a"]), ("  a \t b\nc ", ["a", "b", "c"]), ("a 'b c' d", ["a", "b c", "d"]),
        (#"a "b c" d"#, ["a", "b c", "d"]), (#"a\ b c"#, ["a b", "c"]), ("a ''", ["a", ""]),
        (#"a "" b"#, ["a", "", "b"]), ("a'b'c", ["abc"]), (#"a"b"'c'd"#, ["abcd"]),
        (#"'a\b'"#, [#"a\b"#]), (#""a\b""#, [#"a\b"#]), (#""a\"b""#, [#"a"b"#]),
        (#""a\\b""#, [#"a\b"#]), (#""a\$b\`""#, ["a$b`"]), (#"a\\b"#, [#"a\b"#]),
        (#"a\'b"#, ["a'b"]), (#"a "it's""#, ["a", "it's"]), (#"a '"'"#, ["a", "\""]),
        ("a 'x|y;z&$HOME*'", ["a", "x|y;z&$HOME*"]), ("a b~ c#d e!", ["a", "b~", "c#d", "e!"]),
        ("a --x=1 y=2", ["a", "--x=1", "y=2"]), ("'A=b'", ["A=b"]), (#"A\=b"#, ["A=b"]),
        ("./a=b", ["./a=b"]), ("1=b", ["1=b"]), ("a\\\nb c", ["ab", "c"]),
        ("\"a\\\nb\"", ["ab"]), ("ä 'ß ü'", ["ä", "ß ü"]), ("a {} x{y}", ["a", "{}", "x{y}"]),
        ("a ]", ["a", "]"]),
    ])
    func splits(text: String, words: [String]) throws {
        #expect(try CommandSplitting.words(of: text) == words)
    }

    @Test(arguments: [
        ("", CommandSplitting.Problem.empty), ("  \t", .empty), ("''", .empty), ("'' a", .empty),
        ("a 'b", .unclosed("'", place: 3)), ("a \"b", .unclosed("\"", place: 3)),
        (#"a "b\"#, .unclosed("\"", place: 3)), (#"a \"#, .backslashAtEnd),
        ("a | b", .special("|", place: 3)), ("a; b", .special(";", place: 2)),
        ("a & b", .special("&", place: 3)), ("a > b", .special(">", place: 3)),
        ("a < b", .special("<", place: 3)), ("(a)", .special("(", place: 1)),
        ("a $HOME", .special("$", place: 3)), ("a \"$HOME\"", .special("$", place: 4)),
        ("a `b`", .special("`", place: 3)), ("a \"`b`\"", .special("`", place: 4)),
        ("a *", .special("*", place: 3)), ("a b?", .special("?", place: 4)),
        ("a [b]", .special("[", place: 3)), ("~/a", .special("~", place: 1)),
        ("a ~", .special("~", place: 3)), ("a #b", .special("#", place: 3)),
        ("! a", .special("!", place: 1)), ("{ a", .special("{", place: 1)),
        ("A=b c", .assignment("A=b")), ("A= c", .assignment("A=")),
        ("A='b c' d", .assignment("A=b c")), (#"_a1="b" d"#, .assignment("_a1=b")),
    ])
    func refuses(text: String, problem: CommandSplitting.Problem) {
        #expect(throws: problem) { try CommandSplitting.words(of: text) }
    }

    /// Each problem is one line that names its place and what to do.
    @Test func words() {
        let problem = CommandSplitting.Problem.special("|", place: 3)
        #expect(
            problem.description
                == "the | at 3 is for a shell, but no shell is run; quote it, or run one: "
                + "sh -c '...'")
    }

    /// As long as a command line may be, in a moment.
    @Test func long() throws {
        let text = String(repeating: "ab 'c d' ", count: 20_000)
        #expect(try CommandSplitting.words(of: text).count == 40_000)
    }
}
