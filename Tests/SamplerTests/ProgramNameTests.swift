import Testing

@testable import Launching
@testable import Sampler

@Suite struct ProgramNameTests {
    private static func names(
        _ command: String, _ executable: String = "", _ arguments: String...
    ) -> ProcessNames {
        ProcessNames(
            command: Array(command.utf8), executable: Array(executable.utf8),
            arguments: arguments.map { Array($0.utf8) })
    }

    private static func matches(_ name: String, _ names: ProcessNames) throws -> Bool {
        try #require(ProgramName(name)).matches(names)
    }

    @Test(arguments: ["", "/", "a/b", "/bin/ls", "ls/", "a\u{0}b"])
    func noNames(text: String) {
        #expect(ProgramName(text) == nil)
    }

    @Test func aNameIsShownAsItIs() {
        #expect(ProgramName("my app")?.description == "my app")
    }

    @Test func eachOfTheThreeNamesCounts() throws {
        #expect(try Self.matches("app", Self.names("app")))
        #expect(try Self.matches("app", Self.names("x", "/opt/app", "y")))
        #expect(try Self.matches("app", Self.names("x", "/opt/y", "bin/app", "z")))
        #expect(try Self.matches("app", Self.names("x", "/opt/y", "app")))
        #expect(try Self.matches("app", Self.names("x", "/opt/app (deleted)")))
        #expect(try Self.matches("app (deleted)", Self.names("app (deleted)")))
    }

    @Test func partsAndOtherArgumentsDoNot() throws {
        for name in ["ap", "appl", "App", "opt", "y", "-v"] {
            #expect(try !Self.matches(name, Self.names("app", "/opt/app", "app", "y", "-v")))
        }
        #expect(try !Self.matches("app", Self.names("", "/opt/app/", "app/")))
        #expect(try !Self.matches("app", Self.names("")))
    }

    /// A script: the executable and `argv[0]` are its interpreter's.
    @Test func aScriptHasItsOwnName() throws {
        let script = Self.names("serve.py", "/usr/bin/python3.11", "python3", "./serve.py")
        #expect(try Self.matches("serve.py", script))
        #expect(try Self.matches("python3", script))
        #expect(try Self.matches("python3.11", script))
    }

    @Test func aTruncatedNameIsNoProof() throws {
        let long = "starsearcher-mended"
        #expect(try Self.matches(long, Self.names("starsearcher-me", "/x/starsearcher-mended")))
        #expect(try Self.matches(long, Self.names("starsearcher-me", "/bin/sh", "sh", "x/" + long)))
        #expect(try !Self.matches(long, Self.names("starsearcher-me", "/x/starsearcher-metal")))
        // Another program that is only told about it.
        #expect(try !Self.matches(long, Self.names("vi", "/bin/vi", "vi", long)))
        #expect(try Self.matches("starsearcher-me", Self.names("starsearcher-me")))
    }

    @Test func namesNeedNotBeText() throws {
        let bytes: [UInt8] = [0xFF, 0x2F, 0x61]
        let names = ProcessNames(command: bytes, executable: bytes, arguments: [bytes, []])
        #expect(try Self.matches("a", names))
    }
}
