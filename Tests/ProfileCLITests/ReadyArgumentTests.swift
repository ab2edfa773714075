import ProfileModel
import Sampler
import Testing

@testable import ProfileCLI
@testable import Readiness

@Suite struct ReadyArgumentTests {
    @Test(arguments: [
        ("exit", ReadyCondition.exit), ("notify", .notify), ("listen", .listen(port: nil)),
        ("listen:8080", .listen(port: 8080)), ("listen:65535", .listen(port: 65535)),
        ("output", .output(text: nil)), ("output:on port: 80", .output(text: "on port: 80")),
        ("window", .window), ("frame", .frame), ("idle:200ms", .idle(.milliseconds(200))),
        ("signpost:first frame", .signpost("first frame")), ("mark:a:b", .mark("a:b")),
    ])
    func conditions(text: String, condition: ReadyCondition) {
        #expect(ReadyArgument.parse(text) == condition)
    }

    @Test(arguments: [
        "", ":", "ready", "Exit", "exit:1", "notify:", "listen:", "listen:0", "listen:65536",
        "listen:-1", "listen:http", "output:", "output:a\nb", "window:1", "frame:1", "idle",
        "idle:",
        "idle:5", "idle:0s", "signpost", "signpost:", "mark:", "mark",
    ])
    func noConditions(text: String) { #expect(ReadyArgument.parse(text) == nil) }

    @Test func longTexts() {
        #expect(ReadyArgument.parse("output:" + String(repeating: "é", count: 512)) != nil)
        #expect(ReadyArgument.parse("output:" + String(repeating: "é", count: 513)) == nil)
    }

    private func end(_ line: String) throws -> LaunchEndOptions {
        try RecordOptions(try #require(parsedArguments(line))).end
    }

    @Test func severalConditions() throws {
        let options = try end(
            "record --until notify --until=listen:80 --until notify --extended 1s --watchdog 2s ls")
        #expect(options.until == [.notify, .listen(port: 80)])
        #expect(options.awaitsReadiness)
        #expect(options.extended == .milliseconds(1_000))
        #expect(options.watchdog == .milliseconds(2_000))
        #expect(try !end("record --until exit ls").awaitsReadiness)
        #expect(try end("attach --until idle:1s --until window --until frame 5").until.count == 3)
    }

    @Test(arguments: [
        ("record --until lisen ls", "invalid until 'lisen'"),
        ("record --until mark:x ls", "needs the mark: --mark x=SYMBOL"),
        ("attach --until notify 5", "needs a program that 'firstlight record' starts"),
        ("attach --until output:x 5", "window and frame (on X11)"),
        ("attach --until output:x 5", "needs a program that 'firstlight record' starts"),
        ("record --extended 1s ls", "say with --until"),
        ("record --until exit --extended 1s ls", "say with --until"),
    ])
    func refusals(line: String, words: String) {
        let error = #expect(throws: UsageError.self) { try end(line) }
        #expect(error?.description.contains(words) == true)
        #expect(error?.exitStatus == 125)
    }
}
