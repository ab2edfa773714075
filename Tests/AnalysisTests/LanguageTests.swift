import Analysis
import MadeRecordings
import ProfileModel
import Testing

@Suite struct LanguageTests {
    private typealias Spot = RecordingBuilder.Spot

    private func functions(_ spots: [Spot]) -> [Function] {
        var builder = RecordingBuilder(attached: true, images: [("/usr/bin/python3", 0)])
        builder.border(.attached, 0)
        builder.border(.ended, 10)
        let main = builder.thread("python3", tid: 100, to: 10, isMain: true)
        builder.slice(main, at: 0, running: 10, builder.stack(spots))
        let profile = Profile(builder.recording)
        return profile.stackNodes.map { profile.frames.function(of: $0.frame) }
    }

    @Test(arguments: [
        ("/home/dev/app", Language.native), ("/usr/lib/libc.so.6", .native), ("[vdso]", .native),
        (Module.runtimePath("Python 3.11.2"), .python), (Module.runtimePath("Python"), .python),
        (Module.nodePath, .javaScript), (Module.runtimePath("JavaScript"), nil),
        (Module.runtimePath("Pythonesque 1"), nil), (Module.runtimePath(""), nil),
        ("[runtime:Python", nil), (Module.kernelPath, .kernel),
        (Module.kernelPath(ofModule: "ext4"), .kernel), ("[heap]", nil),
    ])
    func modulesTellTheLanguage(path: String, language: Language?) {
        let found = functions([Spot("work", path, file: "/home/dev/work", line: 1)])
        #expect(found.map(\.language) == [language])
    }

    /// Only V8's maps tell the script of code that was made at run time.
    @Test(arguments: ["[anon:v8]", "//anon", "[anon:memfd:doublemapper]", ""])
    func codeMadeAtRunTime(path: String) {
        let found = functions([
            Spot("work", path, file: "/home/dev/work.js", line: 1),
            Spot("other", path, file: nil, line: nil),
        ])
        #expect(found.map(\.language) == [.javaScript, nil])
    }

    @Test func dataHasNoLanguage() {
        for function in [Function.noStack, .notSampled, .truncated, .wait(in: 202)] {
            #expect(function.language == nil)
        }
    }

    @Test func scriptsTellTheirPlaces() {
        let python = Module.runtimePath("Python 3.11.2")
        let found = functions([
            Spot("<module>", python, file: "/home/dev/pack/__init__.py", line: 7),
            Spot("import json", python, file: ScriptPath.ofImports),
            Spot("read", "/usr/lib/libc.so.6", file: "read.c", line: 3),
        ])
        #expect(found.map { $0.scriptPlace(line: 7) } == ["pack/__init__.py:7", nil, nil])
        #expect(found.map { $0.scriptPlace(line: nil) } == ["pack/__init__.py", nil, nil])
    }
}
