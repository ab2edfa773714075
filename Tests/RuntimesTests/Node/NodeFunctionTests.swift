import Runtimes
import TestSupport
import Testing

struct NodeFunctionTests {
    @Test(arguments: [
        (
            "JS:*hot /app/x.js:12:34",
            NodeFunction(name: "hot", script: "/app/x.js", line: 12, column: 34)
        ),
        (
            "JS:~get g /a b/x.js:5:57",
            NodeFunction(name: "get g", script: "/a b/x.js", line: 5, column: 57)
        ),
        (
            "JS:^ file:///a%20b/%C3%A4.mjs:1:1",
            NodeFunction(name: "", script: "/a b/ä.mjs", line: 1, column: 1)
        ),
        (
            "JS:+Module._load node:internal/modules/cjs/loader:1003:24",
            NodeFunction(
                name: "Module._load", script: "node:internal/modules/cjs/loader", line: 1003,
                column: 24)
        ),
        (
            "LazyCompile:*old /x.js:2:3",
            NodeFunction(name: "old", script: "/x.js", line: 2, column: 3)
        ),
        ("Eval:~ [eval]:1:1", NodeFunction(name: "", script: "[eval]", line: 1, column: 1)),
        (
            "JS:~f evalmachine.<anonymous>:1:5",
            NodeFunction(name: "f", script: "evalmachine.<anonymous>", line: 1, column: 5)
        ),
        (
            "JS:~f webpack:///./a.js:1:5",
            NodeFunction(name: "f", script: "webpack:///./a.js", line: 1, column: 5)
        ),
    ])
    func `names, scripts and places are told apart`(entry: String, function: NodeFunction) {
        #expect(NodeFunction(entry) == function)
        #expect(NodeFunction.isTagged(entry.utf8))
    }

    @Test(arguments: [
        "", "JS", "JS:", "JS:*", "JS:~f", "JS:~f :1:1", "JS:~f /x.js", "JS:~f /x.js:1",
        "JS:~f /x.js:a:1",
        "JS:~f /x.js:0:1", "JS:~f /x.js:1:-1", "JS:~f /x.js:1:99999999999", "Builtin:ArrayMap",
        "BytecodeHandler:Ldar", "RegExp:a /b:1:1", "py::f:/x.py", "f /x.js:1:1",
    ])
    func `anything else is no function`(entry: String) {
        #expect(NodeFunction(entry) == nil)
    }

    @Test func `what has no name is called what it is`() {
        #expect(NodeFunction("JS:~ /x.js:1:1")?.shownName == "<module>")
        #expect(NodeFunction("JS:~ /x.js:7:11")?.shownName == "(anonymous)")
        #expect(NodeFunction("JS:~f /x.js:1:1")?.shownName == "f")
    }

    @Test func `how V8 runs a function does not matter`() {
        #expect(NodeFunction.withoutTier("JS:*f /x.js:1:2") == "JS:f /x.js:1:2")
        #expect(NodeFunction.withoutTier("JS:~ /x.js:1:1") == "JS: /x.js:1:1")
        #expect(NodeFunction.withoutTier("JS:f /x.js:1:2") == "JS:f /x.js:1:2")
        #expect(NodeFunction.withoutTier("*") == "*")
        #expect(NodeFunction("JS: /x.js:1:1") == NodeFunction("JS:^ /x.js:1:1"))
    }

    @Test func `texts at random do no harm`() {
        var numbers = SeededNumbers(seed: 20)
        let parts = [
            "JS:", "~", "*", " ", "/", ":", "1", "file:///", "%", "%4", "é", "node:", "9999999999",
        ]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0..<12, using: &numbers)
            let text = (0..<count).map { _ in
                parts[Int.random(in: 0..<parts.count, using: &numbers)]
            }.joined()
            _ = NodeFunction("JS:~" + text)
            _ = NodeFunction(text)
        }
    }
}

struct NodeOptionsTests {
    private func completed(_ value: String?) -> String? {
        NodeOptions.completed(value.map { Array($0.utf8) }).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    private let both = "--perf-basic-prof-only-functions --interpreted-frames-native-stack"

    @Test func `what the user has stays`() {
        #expect(completed(nil) == both)
        #expect(completed("") == both)
        #expect(completed("--max-old-space-size=4096") == "--max-old-space-size=4096 " + both)
        #expect(
            completed("--require \"/a b.js\"  -x") == "--require \"/a b.js\"  -x " + both)
    }

    @Test func `only what lacks is added`() {
        #expect(
            completed("--perf-basic-prof") == "--perf-basic-prof --interpreted-frames-native-stack")
        #expect(
            completed("--interpreted_frames_native_stack")
                == "--interpreted_frames_native_stack --perf-basic-prof-only-functions")
        #expect(completed(both) == nil)
    }

    @Test func `who asks for a map is known`() {
        #expect(NodeOptions.asksForMap(Array("-x --perf_basic_prof".utf8)))
        #expect(NodeOptions.asksForMap(Array(both.utf8)))
        #expect(!NodeOptions.asksForMap(Array("--perf-prof".utf8)))
        #expect(!NodeOptions.asksForMap(nil))
        #expect(NodeOptions.asksForMap(arguments: ["node", "--perf-basic-prof", "x.js"]))
        #expect(!NodeOptions.asksForMap(arguments: ["node", "x.js"]))
    }
}
