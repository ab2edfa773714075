import MadeRecordings
import ProfileModel
import TestSupport
import Testing

@testable import Analysis

@Suite struct PerfMapNameTests {
    @Test(arguments: [
        ("py::work:/home/dev/app.py", "work", "/home/dev/app.py"),
        ("py::Made.<locals>.run:/a b/c:d.py", "Made.<locals>.run", "/a b/c:d.py"),
        ("py::<module>:<string>", "<module>", "<string>"),
        ("py::f:<frozen importlib._bootstrap>", "f", "<frozen importlib._bootstrap>"),
        ("py::a:b c:/app.py", "a:b c", "/app.py"), ("py::f:app.py", "f", "app.py"),
        ("py::f:/x:/y.py", "f", "/x:/y.py"), ("py::f:</x:/y.py", "f", "</x:/y.py"),
    ])
    func pythonsNames(text: String, function: String, file: String) {
        let name = PerfMapName(text)
        #expect(name?.function == function)
        #expect(name?.file == file)
        #expect(name?.language == .python)
    }

    @Test(arguments: [
        "", "py::", "py:::", "py::f", "py::f:", "py:::/app.py", "py:f:/app.py", "work",
        " py::f:/app.py", "JS:*first /app/x.js:1:2", "Py::f:/app.py",
    ])
    func namesWithoutAScript(text: String) { #expect(PerfMapName(text) == nil) }

    @Test func textsAtRandomDoNoHarm() {
        var numbers = SeededNumbers(seed: 7)
        let letters = Array(":/<>py é\u{0}\u{202e}\n")
        for _ in 0..<2_000 {
            let length = Int.random(in: 0...12, using: &numbers)
            let text = String(
                (0..<length).map { _ in letters.randomElement(using: &numbers) ?? "x" })
            guard let name = PerfMapName("py::" + text) else { continue }
            #expect("\(name.function):\(name.file)" == text)
        }
    }

    // MARK: In stacks

    private typealias Spot = RecordingBuilder.Spot
    private static let python = "/usr/lib/libpython3.12.so"

    private let loop = Spot("_PyEval_EvalFrameDefault", python)
    private let caller = Spot("py_trampoline_evaluator", python)
    private let vector = Spot("_PyFunction_Vectorcall", python)

    private func map(_ name: String) -> Spot { Spot("py::\(name):/home/dev/app.py", "") }

    private func read(_ name: String) -> Spot {
        Spot(name, Module.runtimePath("Python 3.12.1"), file: "/home/dev/app.py", line: 3)
    }

    /// The names in the stack of a profile of nothing else.
    private func shown(_ spots: [Spot], generated: String = "") -> [String] {
        var builder = RecordingBuilder(attached: true, images: [("/usr/bin/python3", 0)])
        builder.border(.attached, 0)
        builder.border(.ended, 10)
        let main = builder.thread("python3", tid: 100, to: 10, isMain: true)
        let spots = spots.map { spot in
            var spot = spot
            if spot.module.isEmpty { spot.module = generated }
            return spot
        }
        builder.slice(main, at: 0, running: 10, builder.stack(spots))
        let profile = Profile(builder.recording)
        let stack = profile.stretches(in: .all).map(\.stack)
        return stack.first.map { profile.frames(ofStack: $0) }?.map {
            profile.frames.function(of: $0).name
        } ?? []
    }

    @Test(arguments: ["", "[anon:code]", "//anon"])
    func aFunctionStandsForItsTrampolineAndLoop(memory: String) {
        let stack = [
            Spot("main", Self.python), caller, map("outer"), loop, vector, caller, map("inner"),
            loop,
            Spot("builtin_sum", Self.python),
        ]
        #expect(
            shown(stack, generated: memory)
                == ["main", "outer", "_PyFunction_Vectorcall", "inner", "builtin_sum"])
    }

    @Test func variantsOfTheLoopAreLoopsOthersAreNot() {
        for name in ["_PyEval_EvalFrameDefault.cold", "_PyEval_EvalFrameDefault [clone .part.0]"] {
            #expect(shown([map("f"), Spot(name, Self.python)]) == ["f"])
        }
        for name in ["_PyEval_EvalFrameDefaults", "_PyEval_Vector"] {
            #expect(shown([map("f"), Spot(name, Self.python)]) == ["f", name])
        }
        // A loop that no trampoline called.
        #expect(shown([map("f"), vector, loop]).last == "_PyEval_EvalFrameDefault")
        #expect(shown([caller, vector]) == ["py_trampoline_evaluator", "_PyFunction_Vectorcall"])
    }

    @Test func recordedFramesReplaceTrampolines() {
        #expect(shown([caller, map("f"), read("f"), read("g")]) == ["f", "g"])
        #expect(shown([map("f"), loop, map("g")]) == ["f", "g"])
    }

    @Test func inAFileItIsOnlyAName() {
        let name = "py::f:/home/dev/app.py"
        #expect(shown([Spot(name, "/home/dev/app"), loop]) == [name, "_PyEval_EvalFrameDefault"])
    }

    @Test func itsScriptAndOwnerAreKnown() {
        var builder = RecordingBuilder(attached: true)
        builder.border(.attached, 0)
        builder.border(.ended, 10)
        let main = builder.thread("python3", tid: 100, to: 10, isMain: true)
        let library = Spot("py::dumps:/usr/lib/python3.12/json/__init__.py", "")
        builder.slice(main, at: 0, running: 10, builder.stack([map("work"), library]))
        let profile = Profile(builder.recording)
        let functions = profile.stackNodes.map { profile.frames.function(of: $0.frame) }
        #expect(functions.map(\.module) == ["app.py", "json/__init__.py"])
        #expect(functions.map(\.isOwn) == [true, false])
        #expect(functions.map(\.language) == [.python, .python])
        #expect(
            profile.stackNodes.map { profile.frames[$0.frame].file }
                == ["/home/dev/app.py", "/usr/lib/python3.12/json/__init__.py"])
    }
}
